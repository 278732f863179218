"""Chinese Wikipedia. Source: the pages of its templates, as https://zh.wikipedia.org/wiki/Template:Bd."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.convert import Arguments
from bertdata.sources.wikipedia.templates.factories import Kept, get
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import (
    Locale,
    names_of,
    naming,
    words,
)

_foreign = naming(
    "{name}：{text}",
    names_of(
        "ar 阿拉伯语, bg 保加利亚语, ca 加泰罗尼亚语, cs 捷克语, da 丹麦语, de 德语, el 希腊语, en 英语, "
        "es 西班牙语, et 爱沙尼亚语, fa 波斯语, fi 芬兰语, fr 法语, grc 古希腊语, he 希伯来语, hi 印地语, "
        "hr 克罗地亚语, hu 匈牙利语, hy 亚美尼亚语, id 印尼语, is 冰岛语, it 意大利语, ja 日语, ka 格鲁吉亚语, "
        "ko 韩语, la 拉丁语, lt 立陶宛语, lv 拉脱维亚语, mn 蒙古语, ms 马来语, nl 荷兰语, no 挪威语, pl 波兰语, "
        "pt 葡萄牙语, ro 罗马尼亚语, ru 俄语, sa 梵语, sk 斯洛伐克语, sl 斯洛文尼亚语, sr 塞尔维亚语, sv 瑞典语, "
        "th 泰语, tr 土耳其语, uk 乌克兰语, vi 越南语, yi 意第绪语"
    ),
)
_LINKED = words("en ja de fr ru ko es it pt nl sv vi th ar he uk pl el la fa tr id")


def _lifetime(arguments: Arguments) -> str | None:
    """{{bd|1879年|3月14日|1955年|4月18日}}: （1879年3月14日－1955年4月18日）."""
    year, day, end, last = (get(arguments, str(n)) for n in range(1, 5))
    return f"（{year}{day}－{end}{last}）" if year or end else None


LOCALE = Locale(
    "zh",
    {
        "bd, 生卒": _lifetime,
        **{f"link-{code}": Kept("1") for code in _LINKED},
        "le, ilh, internal link helper, translink, 跨语言链接": Kept("3", "1"),
        "tsl, 跨語言連結": Kept("4", "3", "2"),
        "forceconvert, 僻字, 生僻字, cjk-new-char, !!, 标示, 拼音, ruby, 注音": Kept("1"),
        "citation needed, cn, fact, 來源請求, 来源请求, 查證請求, 查证请求, 需要引用, 出典必要": Kept("1"),
        "who, 誰, 谁, when, 何时, 何時, where, 哪裡, 哪里, 何人, 为何, 為何, or, 原創研究內文, 原创研究内文": Kept("1"),
        "clarify, 需要解释, 需要解釋, vague, 模糊, 可疑, dubious, 語意模糊, 按誰, 按谁": Kept("1", "text"),
        "quote, 引用, 引文, quotation, cquote, 引言": block,
        "rp, sfn, noteta": lambda arguments: None,
    },
    _foreign,
)
