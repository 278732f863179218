"""The style of the page: light and dark by what the reader's system says, nothing loaded from elsewhere."""

PARTS = ("c0", "c1", "s0", "s1", "s2", "s3", "s4", "s5", "d0", "d1", "d2", "d3", "d4", "d5", "mask", "random", "kept")
"""The colours of the parts of charts."""
COLORS = (*PARTS, "quiet", "line")
"""The variables of the style that charts use."""

STYLE = """
:root {
  --paper: #ffffff; --card: #f4f5f7; --ink: #1c1f24; --quiet: #5d6570; --line: #d5d9df;
  --c0: #2f6db5; --c1: #d98a1f; --d0: #b4552d; --d1: #d98a1f; --d2: #8a6bb0; --d3: #4f9c8f; --d4: #a3476d;
  --s0: #2f6db5; --s1: #d98a1f; --s2: #4f9c8f; --s3: #8a6bb0; --s4: #a3476d; --s5: #8d939c;
  --d5: #8d939c; --mask: #ffe08a; --random: #ffc2b8; --kept: #bfe5c2; --good: #1f7a3d; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --card: #1f242a; --ink: #e6e8eb; --quiet: #9aa3ad; --line: #363d46;
    --c0: #6aa5e8; --c1: #e0a24a; --d0: #e08560; --d1: #e0a24a; --d2: #b497d8; --d3: #6fc0b1; --d4: #d57fa3;
    --s0: #6aa5e8; --s1: #e0a24a; --s2: #6fc0b1; --s3: #b497d8; --s4: #d57fa3; --s5: #7f8893;
    --d5: #7f8893; --mask: #6b5410; --random: #7a2f25; --kept: #245c32; --good: #6fcf8a; --bad: #ff8a80;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; font-weight: 600; margin: 0 0 .4rem; }
.quiet { color: var(--quiet); font-weight: 400; }
.good, .bad { font-size: .85rem; font-weight: 600; float: right; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.25rem 0 0; }
.tiles div { background: var(--card); border-radius: .5rem; padding: .6rem .8rem; }
.tiles dt { color: var(--quiet); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.step { margin: 0 0 1.25rem; }
.step h3 { display: flow-root; }
.strip { display: block; width: 100%; height: 18px; }
.chart { display: block; width: 100%; max-width: 34rem; height: auto; }
svg text { font: 10px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.keys { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.25rem; margin: .4rem 0 0; padding: 0;
  font-size: .9rem; font-variant-numeric: tabular-nums; }
.swatch { display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin-right: .4em; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1.5rem; }
figure { margin: 0; }
figcaption { font-size: .9rem; margin-bottom: .4rem; }
article { background: var(--card); border-radius: .5rem; padding: .8rem 1rem; margin: .9rem 0; }
article p { margin: .35rem 0 0; padding-left: 1.6rem; overflow-wrap: anywhere; }
.segment { float: left; margin-left: -1.6rem; color: var(--quiet); font-weight: 600; }
b.mask, b.random, b.kept { font-weight: 600; border-radius: .25rem; padding: 0 .2em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); }
.facts th { font-weight: 600; white-space: nowrap; }
.facts th.inner { font-weight: 400; padding-left: 1.2rem; }
.samples { margin: 1.5rem 0 0; }
.sample { background: var(--card); border-radius: .5rem; padding: .6rem .9rem; margin: .5rem 0; }
.sample p { margin: .2rem 0 0; overflow-wrap: anywhere; font-size: .92rem; }
h4 { font-size: .95rem; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.chips { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem .5rem; margin: .4rem 0 0; padding: 0; }
.chips li { background: var(--card); border-radius: .4rem; padding: .1rem .5rem; font-size: .88rem; }
.chips code { overflow-wrap: anywhere; }
details { margin: .75rem 0 0; }
summary { cursor: pointer; }
pre { background: var(--card); border-radius: .5rem; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
""" + "\n".join(f".swatch.{name}, b.{name} {{ background: var(--{name}); }}" for name in PARTS)
