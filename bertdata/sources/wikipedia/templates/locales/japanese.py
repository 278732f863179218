"""Japanese Wikipedia. Source: the pages of its templates, as https://ja.wikipedia.org/wiki/Template:仮リンク."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.convert import Arguments
from bertdata.sources.wikipedia.templates.factories import Kept, Wrapped, get
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import Locale, names_of, naming

_foreign = naming(
    "{name}: {text}",
    names_of(
        "ar アラビア語, bg ブルガリア語, ca カタルーニャ語, cs チェコ語, da デンマーク語, de ドイツ語, "
        "el ギリシア語, en 英語, es スペイン語, et エストニア語, eu バスク語, fa ペルシア語, fi フィンランド語, "
        "fr フランス語, grc 古代ギリシア語, he ヘブライ語, hi ヒンディー語, hr クロアチア語, hu ハンガリー語, "
        "hy アルメニア語, id インドネシア語, is アイスランド語, it イタリア語, ka ジョージア語, ko 朝鮮語, "
        "la ラテン語, lt リトアニア語, lv ラトビア語, mn モンゴル語, ms マレー語, nl オランダ語, no ノルウェー語, "
        "pl ポーランド語, pt ポルトガル語, ro ルーマニア語, ru ロシア語, sa サンスクリット, sk スロバキア語, "
        "sl スロベニア語, sr セルビア語, sv スウェーデン語, th タイ語, tl タガログ語, tr トルコ語, uk ウクライナ語, "
        "ur ウルドゥー語, vi ベトナム語, yi イディッシュ語, zh 中国語"
    ),
)


def _reading(arguments: Arguments) -> str | None:
    """{{読み仮名|漢字|かんじ}}: 漢字（かんじ）."""
    text, reading = get(arguments, "1"), get(arguments, "2")
    return f"{text}（{reading}）" if text and reading else text or None


def _age_at_death(arguments: Arguments) -> str | None:
    """{{没年齢|1935|1|8|1977|8|16}}: （42歳没）."""
    numbers = [get(arguments, str(n)) for n in range(1, 7)]
    if not all(number.isascii() and number.isdigit() and len(number) < 5 for number in numbers):
        return None
    born, died = [int(number) for number in numbers[:3]], [int(number) for number in numbers[3:]]
    return f"（{died[0] - born[0] - (died[1:] < born[1:])}歳没）"


LOCALE = Locale(
    "ja",
    {
        "読み仮名, 読み仮名 ruby不使用, 読み仮名ruby不使用, よみがな": _reading,
        "ruby, ルビ, ルビ付き": Kept("1"),
        "没年齢": _age_at_death,
        "quotation, quote, cquote, bquote, 引用文, 引用ブロック": block,
        "仮リンク, ill2, ill, link-interwiki, 日本語版にない記事リンク": Kept("label", "1"),
        "ipa, ipa2": Kept("1"),  # sounds that a sentence speaks of, in 「」; others give how a title is spoken
        "ilq, 行内引用": Kept("1", "quote"),
        # text with a note, or in a form of its own
        "要出典範囲, 要検証範囲, いつ範囲, 誰範囲, 誰範囲2, どこ範囲, どれ範囲, なぜ範囲, 独自研究範囲": Kept("1"),
        "疑問点範囲, 疑問点範囲2, 要説明範囲, 要追加記述範囲, 信頼性要検証範囲, 要出典科学範囲": Kept("1"),
        "要曖昧さ回避範囲, 精度範囲, 要校閲範囲, 中立的観点範囲, 要医学的情報源範囲": Kept("1"),
        "要非一次情報源範囲, 要高次出典範囲": Kept("1"),
        "inline-block, inline block, 補助漢字フォント, jis90フォント, jis2004フォント, cp932フォント": Kept("1"),
        "拡張漢字フォント, unicodeフォント, 中国語フォント, 下げ核, 高線, ピン音, 拼音, 圏点": Kept("1"),
        "下線, 太字, 縮小": Kept("1"),
        "en, de, fr, es, it, pt, nl, ru, la, el, ko, zh, zh-hans, zh-hant, zh-tw, ar, he, ja, vi, th, sa": Kept("1"),
        "傍点": Kept("文章", "1"),
        "fontsize, color, font color, フォントサイズ": Kept("2", "text"),
        "和暦": Kept("1"),
        "鉤括弧, 「": Wrapped("「", "」"),
    },
    _foreign,
)
