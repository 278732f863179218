"""{{convert}} and {{cvt}}: wording, rounding, ranges, and calls that make no sense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.wikitext.templates.convert import convert
from bertdata.wikitext.templates.measurement_units import UNITS
from bertdata.wikitext.templates.numbers import read_number


def arguments(call: str) -> dict[str, str]:
    values: dict[str, str] = {}
    position = 0
    for part in call.split("|"):
        name, equals, value = part.partition("=")
        if not equals:
            position += 1
            name, value = str(position), part
        values[name] = value
    return values


@pytest.mark.parametrize(
    ("call", "expected"),
    {
        "1300|mi|km": "1,300 miles (2,100 km)",
        "5|km": "5 kilometres (3.1 mi)",
        "10|m|sp=us": "10 meters (33 ft)",
        "1|mi": "1 mile (1.6 km)",
        "1/2|mi": "1⁄2 mile (0.80 km)",
        "12|ft|adj=on": "12-foot (3.7 m)",
        "400|ft|adj=mid|tall": "400-foot tall (120 m)",
        "-5|C": "−5 °C (23 °F)",
        "300|K": "300 K (27 °C; 80 °F)",
        "100|C|F|abbr=off": "100 degrees Celsius (212 degrees Fahrenheit)",
        "5|ft|10|in|cm": "5 feet 10 inches (178 cm)",
        "1.78|m|ftin": "1.78 metres (5 ft 10 in)",
        "70|kg|st lb": "70 kilograms (11 st 0 lb)",
        "70|kg|stlb": "70 kilograms (11 st 0 lb)",
        "1.5|kg|lboz": "1.5 kilograms (3 lb 5 oz)",
        "1.78|m|ft in": "1.78 metres (5 ft 10 in)",
        "2e3|m|km": "2×103 metres (2.0 km)",
        "250|by|600|ft": "250 by 600 feet (76 by 183 m)",
        "7-9|in": "7–9 inches (180–230 mm)",
        "6|nmi": "6 nautical miles (11 km; 6.9 mi)",
        "100|km|mi|order=flip": "62 miles (100 km)",
        "250|lb|kg|0": "250 pounds (113 kg)",
        "250|lb|kg|sigfig=4": "250 pounds (113.4 kg)",
        "5|ha|acre|disp=or": "5 hectares or 12 acres",
        "9|km|mi|disp=out": "5.6 mi",
        "9|km|mi|disp=number": "5.6",
        "9|km|mi|abbr=values": "9 (5.6)",
        "500|/sqmi|/km2|disp=preunit|people|people": "500 people per square mile (190 people/km2)",
        "100|$/acre|$/ha": "$100 per acre ($250/ha)",
        "1|e3m|m|0": "1 thousand metres (1,000 m)",
        "2|long ton|t": "2 long tons (2.0 t)",
        "3|e6acre|km2": "3 million acres (12,000 km2)",
        "4.2|ly|km": "4.2 light-years (4.0×1013 km)",
        "0|km|mi": "0 kilometres (0 mi)",
        "7|furlongs per day": "7 furlongs per day",
        "5|km|kg": "5 kilometres",
        "5": "5",
        "320|ha|acre|adj=on": "320-hectare (790-acre)",
        "10|km|mi|adj=on|abbr=off": "10-kilometre (6.2-mile)",
        "5|ft|10|in|adj=on": "5-foot-10-inch (1.78 m)",
        "320|acre|adj=mid": "320-acre (130 ha)",
        "320|acre|abbr=on": "320 acres (130 ha)",
        "20|m|fathom": "20 metres (11 fathoms)",
        "48|kg|lb": "48 kilograms (106 lb)",
        "70|kg": "70 kilograms (150 lb)",
        "48.5|kg|lb": "48.5 kilograms (107 lb)",
        "1.27|m": "1.27 metres (4 ft 2 in)",
        "3|m": "3 metres (9.8 ft)",
        "-2|m": "−2 metres (−6.6 ft)",
        "-0.5|m": "−0.5 metres (−1.6 ft)",
        "0|m": "0 metres (0 ft)",
        "7–9|in": "7–9 inches (180–230 mm)",
        "-2|m|ftin": "−2 metres (−6 ft 7 in)",
        "152.4|cm|ftin": "152.4 centimetres (5 ft 0 in)",
        "155.2|cm|ftin": "155.2 centimetres (5 ft 1.1 in)",
        "155.2|cm|ftin|0": "155.2 centimetres (5 ft 1 in)",
        "0.2|m|ftin": "0.2 metres (7.9 in)",
        "6|ft|4|in|m|abbr=off": "6 feet 4 inches (1.93 metres)",
        "1.93|m|ftin|abbr=off": "1.93 metres (6 feet 4 inches)",
        "1.93|m|ftin|adj=on|abbr=off": "1.93-metre (6-foot-4-inch)",
        "1049.8|mbar|inHg": "1,049.8 millibars (31.00 inHg)",
        "200|USgal|L|sp=us": "200 U.S. gallons (760 L)",
        "200|L|USgal|sp=us": "200 liters (53 U.S. gal)",
        "5|x|10|ft": "5 by 10 feet (1.5 m × 3.0 m)",
        "5|x|10|ft|abbr=on": "5 ft × 10 ft (1.5 m × 3.0 m)",
        "9|km|mi|disp=or": "9 kilometres or 5.6 miles",
        "9|km|mi|disp=or|abbr=on": "9 km or 5.6 mi",
        # the rest is what Module:Convert (2020) prints in MediaWiki 1.45
        "4|e6mi|e6km|abbr=off|sp=us": "4 million miles (6.4 million kilometers)",
        "4|e6mi|e6km": "4 million miles (6.4×106 km)",
        "4|e6mi|e6km|abbr=unit": "4 million mi (6.4 million km)",
        "-50|e3bbl|abbr=none|disp=or": "−50 thousand or −7,900",
        "91|ha|in2": "91 hectares (1.41×109 sq in)",
        "1/2|in2|mi2 km2": "1⁄2 square inch (1.2×10−10 sq mi; 3.2×10−10 km2)",
        "4.5e6|kmh|fps|sp=us": "4.5×106 kilometers per hour (4.1×106 ft/s)",
        "542|km3|mL|3": "542 cubic kilometres (5.4200000000000×1017 ml)",
        ".2|miles|order=flip": "0.32 kilometres (.2 mi)",
        "0.0|sqyd": "0.0 square yards (0 m2)",
        "0|C|F": "0 °C (32 °F)",
        "9500000|tonnes|long ton": "9,500,000 tonnes (9,300,000 long tons)",
        "5|square foot|square metre": "5 square feet (0.46 m2)",
        "10|square_kilometre|sq mi": "10 square kilometres (3.9 sq mi)",
        "0.44|–|-25|tonne|LT|1": "0.44 – −25 tonnes (0.4 – −24.6 long tons)",
        "5|to|6|ft|adj=on|abbr=on": "5 to 6 ft (1.5 to 1.8 m)",
        "5|and|6|ft|adj=on|abbr=off": "5-and-6-foot (1.5-and-1.8-metre)",
        "5|x|6|ft|adj=on": "5-by-6-foot (1.5 m × 1.8 m)",
        "269,536|x|5|/ha|abbr=values": "269,536 × 5 (109,077.3 × 2.0)",
        "839|x|79000|F|disp=sqbr": "839 °F × 79,000 °F [448 °C × 43,871 °C]",
        "50|to|3100000|C|abbr=out|comma=off": "50 to 3100000 degrees Celsius (122 to 5580032 °F)",
        "5|km|disp=unit": "kilometres",
        "16.81|lbs|abbr=in|disp=unit2": "kilograms",
        "140|m3|acre.ft|round=0.5": "140 cubic metres (0 acre⋅ft)",
        "7600|to|20|fps|knots|sigfig=2": "7,600 to 20 feet per second (4,500 to 12 kn)",
        "168|PS|whp|frac=8": "168 metric horsepower (165+3⁄4 hp)",
        "98000|feet|abbr=in|frac=4": "98,000 ft (29,870+1⁄2 metres)",
        "987|and|99|in|yd": "987 and 99 inches (27.4 and 2.8 yd)",
        "56000|lb|kg|disp=slash|abbr=on": "56,000 lb/25,000 kg",
        "4.3e4|ft|ftin|abbr=values|sigfig=1": "4.3×104 (43,000 ft 0 in)",
        "2+1/2|mi|spell=in|adj=on": "two-and-a-half-mile (4.0 km)",
        "5/8|mi|spell=In": "Five-eighths mile (1.0 km)",
        "4+1/8|mi|spell=in": "four and an eighth miles (6.6 km)",
        "120045|mi|spell=in": "one hundred twenty thousand and forty-five miles (193,194 km)",
        "5|ft|10|in|spell=in": "five feet ten inches (1.78 m)",
        "5|mi|spell=On": "Five miles (eight point zero kilometres)",
        "5|mi|spell=in|order=flip": "eight point zero kilometres (5 mi)",
    }.items(),
)
def test_a_quantity_is_worded_and_rounded_as_on_wikipedia(call: str, expected: str) -> None:
    assert convert(arguments(call)) == expected


@pytest.mark.parametrize("call", ["", "x|km", "1/0|km", "km|5", "|km"])
def test_a_call_without_a_number_leaves_nothing(call: str) -> None:
    assert convert(arguments(call)) is None


def test_every_unit_converts_to_units_of_its_own_kind() -> None:
    for code, unit in UNITS.items():
        for target in [unit.default] if unit.default in UNITS else unit.default.split():
            assert UNITS[target].kind == unit.kind, code


@given(
    st.lists(
        st.sampled_from(["1", "2.50", "-", "to", "km", "mi", "ft", "in", "C", "$/acre", "1e9", "0", "1/3"]), max_size=8
    )
)
def test_no_call_raises(fields: list[str]) -> None:
    result = convert({str(number): field for number, field in enumerate(fields, 1)})
    assert result is None or result == result.strip()


def test_a_huge_number_is_refused_rather_than_overflowing() -> None:
    assert read_number("9" * 400) is None
    assert read_number("1e999") is None
