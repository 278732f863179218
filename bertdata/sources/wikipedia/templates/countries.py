"""Names that templates print for the codes of countries and of the states of the USA."""

from __future__ import annotations


def _read(text: str) -> dict[str, str]:
    pairs = (entry.split("=") for entry in text.replace("\n", "").split(";") if entry)
    return {code: name for codes, name in pairs for code in codes.split()}


COUNTRIES = _read(
    """AFG=Afghanistan;ALB=Albania;ALG DZA=Algeria;AND=Andorra;ANG AGO=Angola;ARG=Argentina;ARM=Armenia;AUS=Australia;
AUT=Austria;AZE=Azerbaijan;BAH=Bahamas;BHR BRN=Bahrain;BAN BGD=Bangladesh;BAR BRB=Barbados;BLR=Belarus;BEL=Belgium;
BEN=Benin;BER BMU=Bermuda;BOL=Bolivia;BIH=Bosnia and Herzegovina;BOT BWA=Botswana;BRA=Brazil;BUL BGR=Bulgaria;
BUR BFA=Burkina Faso;CAM KHM=Cambodia;CMR=Cameroon;CAN=Canada;CPV=Cape Verde;CHI CHL=Chile;CHN=China;TPE=Chinese Taipei;
COL=Colombia;CGO COG=Congo;COD=DR Congo;CRC CRI=Costa Rica;CRO HRV=Croatia;CUB=Cuba;CYP=Cyprus;CZE=Czech Republic;
TCH=Czechoslovakia;DEN DNK=Denmark;DOM=Dominican Republic;GDR=East Germany;ECU=Ecuador;EGY=Egypt;SLV ESA=El Salvador;
ENG=England;EST=Estonia;ETH=Ethiopia;FRO=Faroe Islands;FIJ FJI=Fiji;FIN=Finland;FRA=France;GAB=Gabon;GAM GMB=Gambia;
GEO=Georgia;GER DEU=Germany;GHA=Ghana;GIB=Gibraltar;GBR=Great Britain;GRE GRC=Greece;GUA GTM=Guatemala;GUI GIN=Guinea;
GUY=Guyana;HAI HTI=Haiti;HON HND=Honduras;HKG=Hong Kong;HUN=Hungary;ISL=Iceland;IND=India;IDN INA=Indonesia;
IRN IRI=Iran;IRQ=Iraq;IRL=Ireland;ISR=Israel;ITA=Italy;CIV=Ivory Coast;JAM=Jamaica;JPN=Japan;JOR=Jordan;
KAZ=Kazakhstan;KEN=Kenya;KOS=Kosovo;KUW KWT=Kuwait;KGZ=Kyrgyzstan;LAO=Laos;LVA LAT=Latvia;LIB LBN=Lebanon;LBR=Liberia;
LBY LBA=Libya;LIE=Liechtenstein;LTU=Lithuania;LUX=Luxembourg;MAC=Macau;MAD MDG=Madagascar;MAS MYS=Malaysia;
MDV=Maldives;MLI=Mali;MLT=Malta;MTN MRT=Mauritania;MRI MUS=Mauritius;MEX=Mexico;MDA=Moldova;MON MCO=Monaco;
MGL MNG=Mongolia;MNE=Montenegro;MAR=Morocco;MOZ=Mozambique;MYA MMR=Myanmar;NAM=Namibia;NEP NPL=Nepal;
NED NLD=Netherlands;NZL=New Zealand;NCA NIC=Nicaragua;NIG NER=Niger;NGA NGR=Nigeria;PRK=North Korea;
MKD=North Macedonia;NIR=Northern Ireland;NOR=Norway;OMA OMN=Oman;PAK=Pakistan;PLE=Palestine;PAN=Panama;
PNG=Papua New Guinea;PAR PRY=Paraguay;PER=Peru;PHI PHL=Philippines;POL=Poland;POR PRT=Portugal;PUR PRI=Puerto Rico;
QAT=Qatar;ROU=Romania;RUS=Russia;RWA=Rwanda;WSM SAM=Samoa;SMR=San Marino;KSA SAU=Saudi Arabia;SCO=Scotland;
SEN=Senegal;SRB=Serbia;SCG=Serbia and Montenegro;SLE=Sierra Leone;SIN SGP=Singapore;SVK=Slovakia;SVN SLO=Slovenia;
SOM=Somalia;RSA ZAF=South Africa;KOR=South Korea;URS=Soviet Union;ESP=Spain;SRI LKA SL=Sri Lanka;SUD SDN=Sudan;
SUR=Suriname;SWE=Sweden;SUI CHE=Switzerland;SYR=Syria;TAH=Tahiti;TJK=Tajikistan;TAN TZA=Tanzania;THA=Thailand;
TOG TGO=Togo;TGA TON=Tonga;TRI TTO=Trinidad and Tobago;TUN=Tunisia;TUR=Turkey;TKM=Turkmenistan;UGA=Uganda;
UKR=Ukraine;UAE ARE=United Arab Emirates;USA=United States;URU URY=Uruguay;UZB=Uzbekistan;VEN=Venezuela;
VIE VNM=Vietnam;WAL=Wales;FRG=West Germany;WIN WI=West Indies;YEM=Yemen;YUG=Yugoslavia;ZAM ZMB=Zambia;
ZIM ZWE=Zimbabwe"""
)
"""From the codes of FIFA, the IOC, the ICC and ISO 3166 to the names that the templates of sports print."""

STATES = _read(
    """AL=Alabama;AK=Alaska;AZ=Arizona;AR=Arkansas;CA=California;CO=Colorado;CT=Connecticut;DE=Delaware;FL=Florida;
GA=Georgia;HI=Hawaii;ID=Idaho;IL=Illinois;IN=Indiana;IA=Iowa;KS=Kansas;KY=Kentucky;LA=Louisiana;ME=Maine;MD=Maryland;
MA=Massachusetts;MI=Michigan;MN=Minnesota;MS=Mississippi;MO=Missouri;MT=Montana;NE=Nebraska;NV=Nevada;NH=New Hampshire;
NJ=New Jersey;NM=New Mexico;NY=New York;NC=North Carolina;ND=North Dakota;OH=Ohio;OK=Oklahoma;OR=Oregon;
PA=Pennsylvania;RI=Rhode Island;SC=South Carolina;SD=South Dakota;TN=Tennessee;TX=Texas;UT=Utah;VT=Vermont;VA=Virginia;
WA=Washington;WV=West Virginia;WI=Wisconsin;WY=Wyoming"""
)
"""From the postal codes of the states of the USA to their names."""
