# ruff: noqa: E501
"""Prose of each language as its wiki writes it: quotations, dates, units, foreign words, sections without prose.

By the kernels and by their reference.
"""

from __future__ import annotations

import pytest

from bertdata.wikitext.clean import clean_wikitext
from bertdata.wikitext.templates.table import templates_of

SPOTS = {
    "de": [
        ("Er sagte:\n{{Zitat|Es regnet heute.|Ein Bauer}}\nDann schwieg er.", "Er sagte:\n\nEs regnet heute.\n\nDann schwieg er."),
        ('Man nennt es {{"|Salz der Erde}}.', "Man nennt es „Salz der Erde“."),
        ("Das Dorf liegt auf {{Höhe|1234|DE-NN}} und hat {{formatnum:12345}} Einwohner.", "Das Dorf liegt auf 1234 m und hat 12.345 Einwohner."),
        ("Salz ({{laS|sal}}, {{enS|salt}}) ist alt.", "Salz (lateinisch sal, englisch salt) ist alt."),
        ("Salz ist alt.\n== Einzelnachweise und Anmerkungen ==\nNein.\n== Alter ==\nSehr alt.", "Salz ist alt.\n\nSehr alt."),
        ("[[Datei:Salz.jpg|mini|Ein Bild]]Salz ist alt.[[Kategorie:Salz]]", "Salz ist alt."),
    ],
    "fr": [
        ("Au {{s|XII}} et au {{s-|I}}, au {{-s|V}} même.", "Au XIIe siècle et au Ier siècle, au Ve siècle av. J.-C. même."),
        ("Du {{sp|XVI|e|au|XVII|e}}, puis aux {{s2|XI|XII}}.", "Du XVIe au XVIIe siècle, puis aux XIe et XIIe siècles."),
        ("Du {{XXe siècle}}, le {{84e|Congrès}} et François {{Ier}}.", "Du XXe siècle, le 84e Congrès et François Ier."),
        ("Né le {{date de naissance|1 7 1789}} et mort le {{Date|14|juillet|1810|en France}}.", "Né le 1er juillet 1789 et mort le 14 juillet 1810."),
        ("Il pèse {{unité|12500|kg}}, à {{unité|5|m|s|-1}}, soit {{nombre|2000|livres}}.", "Il pèse 12 500 kg, à 5 m⋅s−1, soit 2 000 livres."),
        ("On dit {{citation|le sel}} :\n{{Citation bloc|Le sel est vieux.|Un paysan}}\nC'est tout.", "On dit « le sel » :\n\nLe sel est vieux.\n\nC'est tout."),
        ("Le sel ({{lang-de|Salz}}, {{en langue|la|sal}}) {{référence nécessaire|est vieux}}.", "Le sel (en allemand : Salz, en latin : sal) est vieux."),
        ("Avec {{souverain2|Joseph II (empereur)}}{{,}} {{M.}} Dupont{{etc.}}", "Avec Joseph II M. Dupont, etc."),
        ("Le sel.\n== Notes et sources ==\nNon.\n=== Ouvrages ===\nNon.\n== Âge ==\nVieux.", "Le sel.\n\nVieux."),
    ],
    "es": [
        ("Nació el {{fecha|5|1|1810}}, en el {{siglo|XIX||s}}, no en el {{siglo|ii|a|s}} aún.", "Nació el 5 de enero de 1810, en el siglo XIX, no en el siglo II a. C. aún."),
        ("Mide unos 45{{esd}}km, o {{unidad|12500|m}}, y pesa {{esd|5 kg}}.", "Mide unos 45 km, o 12 500 m, y pesa 5 kg."),
        ("La sal ({{lang-de|Salz}}) {{cita requerida|es vieja}}.", "La sal (en alemán: Salz) es vieja."),
        ("Dijo:\n{{cita|La sal es vieja.|Un sabio}}\nY calló.", "Dijo:\n\nLa sal es vieja.\n\nY calló."),
        ("La sal.\n== Bibliografía adicional ==\nNo.\n== Historia ==\nVieja.", "La sal.\n\nVieja."),
    ],
    "it": [
        ("Corre a {{M|5|u=km}}, con {{M|1|M|Hz}} e {{TA|158 221}} abitanti, anzi {{numero|188520}}.", "Corre a 5 km, con 1 MHz e 158 221 abitanti, anzi 188 520."),
        ("Disse:\n{{q|Il sale è vecchio.|Un contadino}}\nPoi tacque.", "Disse:\n\nIl sale è vecchio.\n\nPoi tacque."),
        ("Mosca ({{russo|Москва|Moskva}}) {{senza fonte|è antica}}; {{passo biblico|Rm|16,11}}.", "Mosca (in russo Москва, traslitterato Moskva) è antica; Rm 16,11."),
        ("Vince {{bandiera|Francia|nome}}, non {{bandiera|Spagna}}.", "Vince Francia, non."),
        ("Il sale.\n== Galleria d'immagini ==\nNo.\n== Storia ==\nVecchio.", "Il sale.\n\nVecchio."),
    ],
    "nl": [
        ("Zout ({{lang-de|Salz}}, {{taal|en|salt}}) {{feit|is oud||2011}}.", "Zout (Duits: Salz, Engels: salt) is oud."),
        ("Hij zei:\n{{Citaat|Zout is oud.|Een boer}}\nEn zweeg, met {{formatnum:12345}} man.", "Hij zei:\n\nZout is oud.\n\nEn zweeg, met 12.345 man."),
        ("Zout.\n== Bronnen, noten en referenties ==\nNee.\n== Geschiedenis ==\nOud.", "Zout.\n\nOud."),
    ],
    "pl": [
        ("Sól ({{lang-de|Salz}}, {{w języku|en|salt}}) {{fakt|jest stara}}: {{formatnum:12345}} lat.", "Sól (niem. Salz, ang. salt) jest stara: 12 345 lat."),
        ("Rzekł:\n{{Cytat|Sól jest stara.}}\nI zamilkł.\n== Uwagi i przypisy ==\nNie.", "Rzekł:\n\nSól jest stara.\n\nI zamilkł."),
    ],
    "ru": [
        ("Соль ({{lang-de|Salz}}, {{lang-la|sal}}) {{s|стоит 5}} рублей.", "Соль (нем. Salz, лат. sal) стоит 5 рублей."),
        ("Родился {{OldStyleDate|6.6|1799|26.5}}, умер {{date|10|2|1837}}, {{num|12345|дней}}.", "Родился 26 мая (6 июня) 1799, умер 10 февраля 1837, 12 345 дней."),
        ("Родился {{OldStyleDate|5 января|1812|24 декабря|1811}}.", "Родился 24 декабря 1811 (5 января 1812)."),
        ("Он сказал:\n{{цитата|Соль стара.|автор=Крестьянин}}\nИ умолк.", "Он сказал:\n\nСоль стара.\n\nИ умолк."),
        ("Работал в ({{iw|Институт соли||en|Salt Institute}}) и {{не переведено 5|Море|море|en|Sea}}.", "Работал в (Институт соли) и море."),
        ("Соль.\n== Литература и ссылки ==\nНет.\n== История ==\nСтара.", "Соль.\n\nСтара."),
        ("[[Файл:Соль.jpg|мини|Вид]]Соль стара.[[Категория:Соль]]", "Соль стара."),
    ],
    "bg": [
        ("Солта ({{lang|de|Salz}}, {{lang-en|salt}}) е стара.", "Солта (на немски: Salz, на английски: salt) е стара."),
        ("Той каза:\n{{цитат|Солта е стара.}}\nИ млъкна.\n== Източници и бележки ==\nНе.", "Той каза:\n\nСолта е стара.\n\nИ млъкна."),
    ],
    "ja": [
        ("塩（{{lang-de|Salz}}、{{lang-en-short|salt}}）は{{読み仮名|鹹|かん}}い。", "塩（ドイツ語: Salz、英語: salt）は鹹（かん）い。"),
        ("{{要出典範囲|塩は古い。|date=2020年}}{{仮リンク|製塩|en|Saltworks|label=塩田}}もある。", "塩は古い。塩田もある。"),
        ("彼は1977年に死去した{{没年齢|1935|1|8|1977|8|16}}。", "彼は1977年に死去した（42歳没）。"),
        ("彼はこう言った。\n{{Quotation|塩は古い。|農夫}}\nそして黙った。", "彼はこう言った。\n\n塩は古い。\n\nそして黙った。"),
        ("塩は{{convert|5|km|mi}}先にある。\n== 脚注・出典 ==\nない。\n== 歴史 ==\n古い。", "塩は5 km (3.1 mi)先にある。\n\n古い。"),
        ("[[ファイル:塩.jpg|サムネイル|塩]]塩は「{{IPA|s}}」で始まる。[[カテゴリ:塩]]", "塩は「s」で始まる。"),
    ],
    "zh": [
        ("盐（{{lang-en|salt}}）是-{zh-hans:古老;zh-hant:古老}-的。{{來源請求|它很贵。|time=2020}}", "盐（英语：salt）是古老的。它很贵。"),
        ("他{{bd|1879年|3月14日|1955年|4月18日|A}}是{{le|物理 (學科)|Physics|物理}}学家。", "他（1879年3月14日－1955年4月18日）是物理学家。"),
        ("{{link-de|盐业|Saltworks}}和{{tsl|en|Sea salt|海鹽|海盐}}。\n== 參考書目 ==\n无。\n== 历史 ==\n古老。", "盐业和海盐。\n\n古老。"),
    ],
    "ar": [
        ("نهر شبريه {{ألمانية|Spree}} طويل، واسمه {{لغة-أل|Spree}}.", "نهر شبريه (بالألمانية: Spree) طويل، واسمه بالألمانية: Spree."),
        ("قال:\n{{اقتباس خاص|الملح قديم.|فلاح}}\nثم سكت.", "قال:\n\nالملح قديم.\n\nثم سكت."),
        ("الملح {{بحاجة لمصدر|قديم جدا}} في {{وإو|تر=Salt|عر=مدينة الملح|لغ=en}}.", "الملح قديم جدا في مدينة الملح."),
        ("الملح قديم.\n== انظر أيضًا ==\nلا.\n== التاريخ ==\nقديم.", "الملح قديم.\n\nقديم."),
        ("[[ملف:ملح.jpg|تصغير|ملح]]الملح قديم.[[تصنيف:ملح]]", "الملح قديم."),
    ],
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("language", sorted(SPOTS))
def test_the_constructs_of_a_language_become_its_prose(language: str, compiled: bool) -> None:
    for wikitext, prose in SPOTS[language]:
        assert clean_wikitext(wikitext, templates=templates_of(language), compiled=compiled) == prose


@pytest.mark.parametrize("language", sorted(SPOTS))
def test_a_dumps_language_decides_which_templates_are_known(language: str) -> None:
    changed = sum(
        clean_wikitext(wikitext, templates=templates_of("en"), compiled=False) != prose
        for wikitext, prose in SPOTS[language]
    )
    assert changed
