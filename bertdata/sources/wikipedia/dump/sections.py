"""Titles of the sections of an article that hold no prose: references, links, literature, galleries.

All wikis share one table: a title of one language that is a section of prose in another one is not in it.
"""

from __future__ import annotations

_TITLES = """
see also; references; reference; external links; external link; further reading; notes; note; footnotes; footnote
bibliography; sources; source; citations; works cited; references and notes; notes and references
notes and citations; citations and notes; references and sources; sources and references
references and footnotes; footnotes and references; explanatory notes; explanatory footnotes
informational notes; general references; general sources; general and cited references
general and cited sources; cited sources; cited references; selected bibliography; additional reading
additional sources; literature cited; notes and sources; sources and notes; external sources; external media
online sources; primary sources; secondary sources; references and further reading
further reading and references; external links and references; references and external links
bibliography and further reading; gallery

siehe auch; einzelnachweise; weblinks; weblink; literatur; quellen; anmerkungen; fußnoten; belege; nachweise
einzelnachweise und anmerkungen; anmerkungen und einzelnachweise; literatur und quellen; quellen und literatur
quellen und einzelnachweise; einzelnachweise und quellen; literatur (auswahl); literaturauswahl; literaturhinweise
sekundärliteratur; weiterführende literatur; literatur und weblinks; weblinks und quellen; bildergalerie; galerie
fußnoten und einzelnachweise; anmerkungen und nachweise

voir aussi; références; notes et références; références et notes; liens externes; lien externe; bibliographie
articles connexes; article connexe; annexes; annexe; notes; notes et sources; sources et références
références et liens externes; sources et bibliographie; bibliographie et sources; bibliographie sommaire
bibliographie indicative; liens internes; lien interne; pages connexes; voir également; lectures complémentaires
pour approfondir; galerie de photos; galerie de photographies; référence; liens et documents externes

véase también; véase además; referencias; enlaces externos; enlace externo; bibliografía; notas; notas y referencias
referencias y notas; fuentes; fuentes y bibliografía; referencias bibliográficas; bibliografía adicional
bibliografía complementaria; bibliografía consultada; bibliografía recomendada; lectura adicional
lecturas adicionales; otras lecturas; notas al pie; referencia; galería de imágenes; referencias y enlaces externos

note e riferimenti; voci correlate; collegamenti esterni; collegamento esterno; bibliografia; altri progetti
galleria fotografica; galleria d'immagini; galleria di immagini; fonti e bibliografia; bibliografia e fonti
riferimenti bibliografici; note bibliografiche; bibliografia essenziale; bibliografia parziale; link esterni

ver também; referências; ligações externas; notas e referências

zie ook; referenties; externe links; externe link; externe koppelingen; externe koppeling; externe bronnen; bronnen
bron; literatuur; voetnoten; voetnoot; noten; noten en referenties; bronnen en noten; bronnen en referenties
bronnen, noten en referenties; bronnen, noten en/of referenties; bronvermelding; bronnen en literatuur
literatuur en bronnen; geraadpleegde literatuur; fotogalerij; verder lezen; lees verder

zobacz też; zobacz także; przypisy; linki zewnętrzne; link zewnętrzny; uwagi; uwagi i przypisy; przypisy i uwagi
bibliografia i linki zewnętrzne; literatura; literatura dodatkowa; literatura uzupełniająca; galeria
galeria zdjęć; źródła; źródła i bibliografia

см. также; смотри также; смотрите также; примечания; ссылки; литература; источники; сноски; примечания и ссылки
литература и источники; источники и литература; литература и ссылки; ссылки и литература; ссылки на источники
библиография; дополнительная литература; использованная литература; галерея; фотогалерея; комментарии и примечания

вижте също; виж още; вижте още; външни препратки; източници; бележки; препратки; бележки и източници
източници и бележки; използвана литература; допълнителна литература; галерия; бележки под линия

див. також; примітки; посилання; література; джерела

se även; referenser; externa länkar; källor; noter; fotnoter

関連項目; 脚注; 出典; 参考文献; 外部リンク; 注釈; 注; 参照; 脚注・出典; 出典・脚注; 注釈・出典; 出典・注釈; 参考資料
関連文献; 関連書籍; 参考図書; 文献; 註; 註釈
注記; 脚注・参考文献; 出典・参考文献; 参考文献・出典; 注・出典; 補注; 外部サイト
脚注と参考文献; 注釈と出典; 出典と脚注; ギャラリー; 関連リンク

参见; 參見; 参看; 參看; 参考资料; 參考資料; 外部链接; 外部連結
外部鏈接; 参考来源; 參考來源; 注释; 註釋; 註解; 注解; 延伸阅读
延伸閱讀; 参考文献; 參考文獻; 参考书目; 參考書目; 參考; 参考; 资料来源
資料來源; 脚注; 腳註; 腳注; 註記; 備註; 备注; 参考网址
相關條目; 相关条目; 參見條目; 参见条目; 注释与参考文献
註釋與參考文獻; 参考资料与注释; 參考資料與註釋; 扩展阅读; 擴展閱讀
深入阅读; 深入閱讀; 研究書目; 相关链接; 相關連結; 圖集; 图集; 图库; 圖庫; 圖片集; 相片集

انظر أيضا; انظر أيضًا; انظر أيضاً; انظر ايضا; طالع أيضا; طالع أيضًا; طالع أيضاً; اقرأ أيضا; اقرأ أيضًا; مراجع; المراجع
وصلات خارجية; روابط خارجية; هوامش; الهوامش; مصادر; المصادر; ملاحظات; المصادر والمراجع; مصادر ومراجع; المراجع والمصادر
مراجع ومصادر; هوامش ومراجع; مراجع وهوامش; معرض صور; معرض الصور; قراءات أخرى; قراءة متعمقة; للاستزادة; كتب ومراجع

같이 보기; 각주; 외부 링크; 참고 문헌
"""

TITLES = frozenset(title.strip() for line in _TITLES.splitlines() for title in line.split(";") if title.strip())
"""In lower case."""
