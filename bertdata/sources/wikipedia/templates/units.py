"""The units of measurement that `{{convert}}` meets in running text, with their names, symbols and default outputs."""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """`scale` is the unit in SI base units (kelvins for temperatures, which also have an `offset`).

    `sign` is written before the number: the dollar of dollars per acre.
    """

    kind: str
    scale: float
    symbol: str
    singular: str
    plural: str
    default: str
    offset: float = 0.0
    sign: str = ""


# kind; then one unit a line: codes | scale | symbol | singular | plural (empty: singular + s) | default outputs
_TABLE = """
length
km | 1000 | km | kilometre | | mi
m | 1 | m | metre | | ft
cm | 0.01 | cm | centimetre | | in
mm | 0.001 | mm | millimetre | | in
um μm µm | 1e-6 | μm | micrometre | | in
nm | 1e-9 | nm | nanometre | | in
mi mile miles | 1609.344 | mi | mile | | km
nmi | 1852 | nmi | nautical mile | | km mi
yd yard | 0.9144 | yd | yard | | m
ft foot feet | 0.3048 | ft | foot | feet | m
in inch inches | 0.0254 | in | inch | inches | mm
fathom ftm | 1.8288 | fathom | fathom | | ft m
chain | 20.1168 | chain | chain | | ft m
furlong | 201.168 | furlong | furlong | | ft m
hand | 0.1016 | h | hand | | in cm
au AU | 149597870700 | AU | astronomical unit | | km mi
ly | 9.4607304725808e15 | ly | light-year | | pc
pc | 3.0856775814914e16 | pc | parsec | | ly
area
km2 sqkm | 1e6 | km2 | square kilometre | | sqmi
m2 sqm | 1 | m2 | square metre | | sqft
cm2 sqcm | 1e-4 | cm2 | square centimetre | | sqin
mm2 | 1e-6 | mm2 | square millimetre | | sqin
ha hectare | 10000 | ha | hectare | | acre
acre acres | 4046.8564224 | acre | acre | | ha
sqmi mi2 | 2589988.110336 | sq mi | square mile | | km2
sqyd yd2 | 0.83612736 | sq yd | square yard | | m2
sqft ft2 | 0.09290304 | sq ft | square foot | square feet | m2
sqin in2 | 0.00064516 | sq in | square inch | square inches | cm2
volume
m3 cum | 1 | m3 | cubic metre | | cuft
km3 cukm | 1e9 | km3 | cubic kilometre | | cumi
cm3 cc cucm | 1e-6 | cm3 | cubic centimetre | | cuin
L l litre liter | 0.001 | L | litre | | impgal USgal
ml mL | 1e-6 | ml | millilitre | | impoz USoz
cl | 1e-5 | cl | centilitre | | impoz USoz
hL | 0.1 | hl | hectolitre | | impgal USgal
ML | 1000 | ML | megalitre | | cuft
cuft ft3 | 0.028316846592 | cu ft | cubic foot | cubic feet | m3
cuin in3 | 1.6387064e-5 | cu in | cubic inch | cubic inches | cm3
cuyd yd3 | 0.764554857984 | cu yd | cubic yard | | m3
cumi mi3 | 4168181825.440579584 | cu mi | cubic mile | | km3
acre.ft acreft | 1233.48183754752 | acre⋅ft | acre-foot | acre-feet | m3
USgal gal U.S.gal usgal | 0.003785411784 | US gal | US gallon | | L impgal
impgal imp.gal | 0.00454609 | imp gal | imperial gallon | | L USgal
USoz USfloz | 2.95735295625e-5 | US fl oz | US fluid ounce | | ml
impoz impfloz | 2.84130625e-5 | imp fl oz | imperial fluid ounce | | ml
USbbl oilbbl bbl | 0.158987294928 | bbl | barrel | | m3
USpt USpint | 4.73176473e-4 | US pt | US pint | | L
imppt imppint | 5.6826125e-4 | imp pt | imperial pint | | L
USqt | 9.46352946e-4 | US qt | US quart | | L
mass
kg | 1 | kg | kilogram | | lb
g | 0.001 | g | gram | | oz
mg | 1e-6 | mg | milligram | | gr
t tonne tonnes MT | 1000 | t | tonne | | LT ST
lb lbs | 0.45359237 | lb | pound | | kg
oz | 0.028349523125 | oz | ounce | | g
ozt troyoz | 0.0311034768 | ozt | troy ounce | | g
gr grain | 6.479891e-5 | gr | grain | | g
st stone | 6.35029318 | st | stone | stone | lb kg
LT long_ton L/T | 1016.0469088 | long ton | long ton | | t
ST short_ton ston S/T | 907.18474 | short ton | short ton | | t
speed
km/h kph kmh | 0.2777777777777778 | km/h | kilometre per hour | kilometres per hour | mph
mph mi/h | 0.44704 | mph | mile per hour | miles per hour | km/h
m/s | 1 | m/s | metre per second | metres per second | ft/s
km/s | 1000 | km/s | kilometre per second | kilometres per second | mi/s
mi/s | 1609.344 | mi/s | mile per second | miles per second | km/s
ft/s fps | 0.3048 | ft/s | foot per second | feet per second | m/s
ft/min | 0.00508 | ft/min | foot per minute | feet per minute | m/min
m/min | 0.016666666666666666 | m/min | metre per minute | metres per minute | ft/min
kn knot knots | 0.5144444444444445 | kn | knot | | km/h
temperature
C °C degC | 1 | °C | degree Celsius | degrees Celsius | F
F °F degF | 0.5555555555555556 | °F | degree Fahrenheit | degrees Fahrenheit | C
K | 1 | K | kelvin | | C F
temperature change
C-change | 1 | °C | degree Celsius | degrees Celsius | F-change
F-change | 0.5555555555555556 | °F | degree Fahrenheit | degrees Fahrenheit | C-change
K-change | 1 | K | kelvin | | F-change
power
kW | 1000 | kW | kilowatt | | hp
W | 1 | W | watt | | hp
MW | 1e6 | MW | megawatt | | hp
hp bhp shp ihp whp | 745.69987158227 | hp | horsepower | horsepower | kW
PS | 735.49875 | PS | metric horsepower | metric horsepower | kW hp
force
N | 1 | N | newton | | lbf
kN | 1000 | kN | kilonewton | | lbf
lbf | 4.4482216152605 | lbf | pound-force | pounds-force | N
kgf | 9.80665 | kgf | kilogram-force | kilograms-force | N lbf
pressure
Pa | 1 | Pa | pascal | | psi
kPa | 1000 | kPa | kilopascal | | psi
MPa | 1e6 | MPa | megapascal | | psi
hPa | 100 | hPa | hectopascal | | inHg
mbar mb | 100 | mbar | millibar | | inHg
bar | 1e5 | bar | bar | | psi
atm | 101325 | atm | standard atmosphere | | kPa
psi | 6894.757293168 | psi | pound per square inch | pounds per square inch | kPa
inHg | 3386.388640341 | inHg | inch of mercury | inches of mercury | kPa
mmHg torr | 133.322387415 | mmHg | millimetre of mercury | millimetres of mercury | kPa
energy
J | 1 | J | joule | | ftlbf
kJ | 1000 | kJ | kilojoule | | kcal
kWh | 3.6e6 | kWh | kilowatt-hour | | MJ
MJ | 1e6 | MJ | megajoule | | kWh
cal | 4.184 | cal | calorie | | J
kcal Cal | 4184 | kcal | kilocalorie | | kJ
ftlbf | 1.3558179483314 | ft⋅lbf | foot-pound force | foot-pounds force | J
torque
Nm N.m | 1 | N⋅m | newton-metre | | lbft
lbft lb.ft lbfft | 1.3558179483314 | lb⋅ft | pound-foot | pound-feet | Nm
density
PD/km2 PD/sqkm | 1e-6 | /km2 | inhabitant per square kilometre | inhabitants per square kilometre | PD/sqmi
PD/sqmi PD/mi2 | 3.861021585424458e-7 | /sq mi | inhabitant per square mile | inhabitants per square mile | PD/km2
PD/ha | 1e-4 | /ha | inhabitant per hectare | inhabitants per hectare | PD/acre
PD/acre | 2.4710538146716534e-4 | /acre | inhabitant per acre | inhabitants per acre | PD/ha
/km2 /sqkm | 1e-6 | /km2 | per square kilometre | per square kilometre | /sqmi
/sqmi /mi2 | 3.861021585424458e-7 | /sq mi | per square mile | per square mile | /km2
/ha | 1e-4 | /ha | per hectare | per hectare | /acre
/acre | 2.4710538146716534e-4 | /acre | per acre | per acre | /ha
flow
m3/s cumec | 1 | m3/s | cubic metre per second | cubic metres per second | cuft/s
cuft/s ft3/s cfs | 0.028316846592 | cu ft/s | cubic foot per second | cubic feet per second | m3/s
weight per volume
kg/m3 | 1 | kg/m3 | kilogram per cubic metre | kilograms per cubic metre | lb/cuyd
g/cm3 | 1000 | g/cm3 | gram per cubic centimetre | grams per cubic centimetre | lb/cuin
lb/cuyd | 0.5932764212577825 | lb/cu yd | pound per cubic yard | pounds per cubic yard | kg/m3
lb/cuin | 27679.904710191 | lb/cu in | pound per cubic inch | pounds per cubic inch | g/cm3
lb/cuft | 16.018463373960 | lb/cu ft | pound per cubic foot | pounds per cubic foot | kg/m3
"""


def _read_table(table: str) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    kind = ""
    for line in table.strip().splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 1:
            kind = fields[0]
            continue
        codes, scale, symbol, singular, plural, default = fields
        offset = {"C": 273.15, "F": 273.15 - 32 / 1.8}.get(codes.split()[0], 0.0)
        unit = Unit(kind, float(scale), symbol, singular, plural or singular + "s", default, offset)
        units.update((code.replace("_", " "), unit) for code in codes.split())
    return units


UNITS = _read_table(_TABLE)
