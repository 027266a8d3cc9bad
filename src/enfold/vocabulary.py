"""Closed lists of words that the names and the rules read: curated, small, and data.

Each list states what it is for. A word is written as ``names.letters_of`` leaves it: case folded,
letters and digits only.
"""

from __future__ import annotations

from typing import Final

PERSON_TYPES: Final = frozenset(
    ["person", "people", "human", "individual", "per", "персона", "人物", "personne", "persona"]
)
ORGANIZATION_TYPES: Final = frozenset(
    "organization organisation company org corporation institution business firm enterprise "
    "agency bank employer vendor supplier".split()
)
PLACE_TYPES: Final = frozenset("place city location geo country region town".split())
FILE_TYPES: Final = frozenset(["file", "filename", "filepath", "path", "source file"])

ORDINAL_ENDINGS: Final = frozenset(["st", "nd", "rd", "th"])

CARDINALS: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
ORDINALS: Final = {
    word: value
    for value, word in enumerate(
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
    )
}
TENS: Final = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
NUMBER_WORDS: Final = frozenset([*CARDINALS, *ORDINALS, *TENS])
"""English words for numbers below a hundred. A number word agrees with the number, and two of them
part names as two numbers do; alone it is no number, since `One` and `Second` are names too."""

ROMAN: Final = frozenset(
    "ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii xxiv".split()
)

NAME_TITLES: Final = frozenset(
    "mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend fr father capt captain col "
    "colonel gen general lt lieutenant sgt sergeant maj major judge justice senator sen "
    "congressman congresswoman hon herr frau monsieur m mme madame mlle mademoiselle señor señora "
    "señorita sr sra srta don doña dott dottore ing dipl signor signora "
    "гн гжа доктор др проф профессор".split()
)
"""Forms of address that stand before a person's name."""

POST_NOMINALS: Final = frozenset("phd md esq mba cpa dds jd obe cbe mbe kc qc".split())

GENERATIONS: Final = {
    "jr": "junior",
    "junior": "junior",
    "jnr": "junior",
    "filho": "junior",
    "sr": "senior",
    "senior": "senior",
    "snr": "senior",
}
"""Words behind a name that tell a parent from a child of the same name."""

PERSON_GENERATIONS: Final = {
    "ii": "ii",
    "iii": "iii",
    "iv": "iv",
    "2nd": "ii",
    "3rd": "iii",
    "4th": "iv",
}
"""The same where both sides are typed person; elsewhere a roman numeral counts only if both sides
carry one."""

_OPPOSED: Final = """
mr herr monsieur señor signor mister | mrs ms miss frau madame mme señora señorita signora mademoiselle
sr | sra srta
don | doña
north northern nord | south southern süd sud | east eastern ost | west western ouest
northeast northeastern | northwest northwestern | southeast southeastern | southwest southwestern
first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth
january | february | march | april | may | june | july | august | september | october | november | december
monday | tuesday | wednesday | thursday | friday | saturday | sunday
input inputs | output outputs
primary | secondary | tertiary
left | right
upper | lower
top | bottom
inner | outer
internal | external
inbound | outbound
incoming | outgoing
upstream | downstream
public | private
min minimum minimal | max maximum maximal
start | end stop
begin | end
open | closed close
old older | new newer | young younger
before | after
pre | post
source | target destination
sender | receiver
buyer | seller
male | female
man | woman
men | women
boy | girl
boys | girls
father | mother
brother | sister
son | daughter
husband | wife
uncle | aunt
king | queen
prince | princess
active | inactive
enabled | disabled
enable | disable
direct | indirect
visible | invisible
read reader | write writer
client | server
parent | child
import importer imports | export exporter exports
push | pull
upload | download
encoder | decoder
encode encoding | decode decoding
encrypt encryption | decrypt decryption
ascending asc | descending desc
horizontal | vertical
positive | negative
master | slave
frontend | backend
front | back
high higher | low lower
long | short
big large larger | small smaller
major | minor
light | dark
black | white
summer | winter | autumn | spring
day | night
morning | evening
increase | decrease
lock | unlock
attach | detach
mount | unmount
install installer | uninstall uninstaller
serialize serializer | deserialize deserializer
allow | deny
accept | reject
win | lose
macro | micro | nano
hyper | hypo
inter | intra
"""
"""Words that exclude each other: on one line, each ``|`` parts what can't be said of one thing."""


def _classes() -> dict[str, tuple[tuple[int, int], ...]]:
    table: dict[str, tuple[tuple[int, int], ...]] = {}
    for group, line in enumerate(_OPPOSED.strip().splitlines()):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                table[word] = (*table.get(word, ()), (group, side))
    return table


OPPOSED_CLASSES: Final = _classes()
"""word → the (group, side) pairs it stands on; two words of one group and other sides oppose."""


def opposed(left: str, right: str) -> bool:
    """Whether the two words can't be said of one thing."""
    return any(
        group == other and side != there
        for group, side in OPPOSED_CLASSES.get(left, ())
        for other, there in OPPOSED_CLASSES.get(right, ())
    )


FOLD_MARKS: Final = frozenset(
    word
    for word in OPPOSED_CLASSES
    for other in OPPOSED_CLASSES
    if word != other and (word in other or other in word) and opposed(word, other)
)
"""Words that lie inside their own opposite (``mr``, ``mrs``): equal letters don't make
``Mr. S. Smith`` and ``Mrs. Smith`` one, so the fold key keeps them."""

FILE_SUFFIXES: Final = frozenset(
    "js mjs cjs jsx ts tsx py pyi pyc ipynb rb go rs c h cc cpp cxx hpp hh cs java kt kts scala clj "
    "swift m mm php pl pm lua r jl ex exs erl hs ml fs fsx vb sh bash zsh fish ps1 bat cmd sql "
    "html htm xhtml css scss sass less vue svelte astro json jsonl ndjson json5 yaml yml toml ini "
    "cfg conf env lock xml xsd xsl csv tsv parquet avro orc md mdx rst txt log tex bib pdf doc docx "
    "xls xlsx ppt pptx odt ods odp rtf epub png jpg jpeg gif svg webp bmp ico tif tiff mp3 mp4 wav "
    "flac ogg avi mov mkv webm zip tar gz tgz bz2 xz zst rar 7z jar war whl egg deb rpm dmg iso exe "
    "msi dll so dylib o a wasm db sqlite sqlite3 bak tmp swp patch diff proto graphql gql tf tfvars "
    "ttf otf woff woff2 pem crt key pub gguf onnx pt pth safetensors npy npz pkl".split()
)
DOMAIN_SUFFIXES: Final = frozenset(
    "com org net edu gov mil int io ai dev app co me us uk de fr es it nl be ch at se no fi dk pl cz "
    "sk hu ro bg gr pt ie ru ua by kz tr il in cn jp kr tw hk sg au nz ca mx br ar cl pe za ng ke "
    "eg eu info biz name xyz tech online store site cloud shop blog news tv fm ly gg sh to so is im "
    "cc ws ink wiki team work works studio design agency systems solutions software network digital "
    "media email group world live page pub run build land zone space".split()
)

ARTICLES: Final = frozenset(
    "the a an of der die das des le la les el los las il lo gli de du del della di".split()
)
"""Words that ``reordered`` and "content word" leave out."""

ENGLISH_ARTICLES: Final = frozenset(["the", "a", "an", "of"])

ACRONYM_SILENT: Final = frozenset("of and the for in on at to a an de la le et und für y e".split())
"""Words that an acronym may pass over."""

_LEGAL_FORMS: Final = """
ltd|limited|inc|incorporated|corp|corporation|co|company|llc|l l c|llp|lllp|lp|plc|p l c|pllc|pc
gmbh|g m b h|ggmbh|gmbh co kg|ag|kg|kgaa|ohg|gbr|ug|ev|e v|eg|se
sa|s a|sas|s a s|sasu|sarl|s a r l|eurl|snc|sca|scop
srl|s r l|srls|spa|s p a|sapa|ss
bv|b v|nv|n v|vof|cv|cvba|bvba
oy|oyj|ab|aktiebolag|asa|as|a s|aps|ivs|ks|hf|ehf
sro|s r o|spol s r o|vos|zrt|nyrt|kft|bt|doo|d o o|dd|d d|ad|ead|ood|eood
jsc|ojsc|cjsc|pjsc|pao
sl|s l|slu|sll|sociedad anónima|sociedad anonima|sociedad limitada
sa de cv|s a de c v|sapi de cv|s de rl de cv
ltda|limitada|eireli|mei|me
pty|pty ltd|pty limited|pte|pte ltd|sdn bhd|bhd|berhad|tbk|pt|co ltd|company limited
pvt|pvt ltd|private limited|public limited company|limited liability company
joint stock company|open joint stock company|closed joint stock company
public joint stock company|limited liability partnership
sp z o o|sp zo o|spółka z o o|sp k|sp j
o o o|ooo|oao|zao|ao
societatea cu răspundere limitată|societatea cu raspundere limitata
sociedade anônima|sociedade anonima|sociedad anónima bursátil
kk|k k|kabushiki kaisha|kabushiki gaisha|gk|yk|yugen kaisha
aş|a ş|anonim şirketi|ltd şti|limited şirketi|san tic|sanayi ve ticaret
ооо|оао|зао|пао|ао|нао|тоо|тов|ат|пат|ип|чп
αε|α ε|επε|ε π ε|ικε
בעמ
aktiengesellschaft|gesellschaft mit beschränkter haftung
société anonyme|societe anonyme|società per azioni
"""

LEGAL_FORMS: Final = frozenset(
    tuple(form.split()) for form in _LEGAL_FORMS.replace("\n", "|").split("|") if form.strip()
)
"""Company forms, as words; they end a name."""

LEGAL_ENDINGS: Final = frozenset(form[-1] for form in LEGAL_FORMS)
"""The last words of company forms: a name that ends in none of them has none behind it."""

LONGEST_LEGAL_FORM: Final = max(map(len, LEGAL_FORMS))

_LEADING_LEGAL_FORMS: Final = """
ооо|оао|зао|пао|ао|нао|тоо|тов|ат|ип|pt|ooo|o o o|oao|zao|pao|jsc|ojsc|cjsc|pjsc|srl|s r l
joint stock company|open joint stock company|closed joint stock company
public joint stock company|limited liability company
societatea cu răspundere limitată|societatea cu raspundere limitata
"""

LEADING_LEGAL_FORMS: Final = frozenset(
    tuple(form.split())
    for form in _LEADING_LEGAL_FORMS.replace("\n", "|").split("|")
    if form.strip()
)
"""Company forms that stand before a name."""

LEGAL_BEGINNINGS: Final = frozenset(form[0] for form in LEADING_LEGAL_FORMS)
"""The first words of those."""

CJK_LEGAL_FORMS: Final = (
    "股份有限公司",
    "有限责任公司",
    "有限責任公司",
    "有限公司",
    "株式会社",
    "有限会社",
    "合同会社",
    "合資会社",
    "合名会社",
    "주식회사",
    "유한회사",
    "株",
    "주",
)
"""Company forms written without blanks, longest first. The last two stand for ``(株)``, ``(주)``
and count only in brackets."""

ABBREVIATIONS: Final = {
    "acad": "academy",
    "assn": "association",
    "assoc": "association",
    "bros": "brothers",
    "co": "company",
    "corp": "corporation",
    "ctr": "center",
    "dept": "department",
    "ft": "fort",
    "govt": "government",
    "hosp": "hospital",
    "inst": "institute",
    "intl": "international",
    "mfg": "manufacturing",
    "mgmt": "management",
    "mt": "mount",
    "natl": "national",
    "st": "saint",
    "svcs": "services",
    "tech": "technology",
    "uk": "unitedkingdom",
    "univ": "university",
    "us": "unitedstates",
    "usa": "unitedstates",
}
"""Words that are written short, and what they are short for."""

LAST_ABBREVIATIONS: Final = {
    "ave": "avenue",
    "blvd": "boulevard",
    "rd": "road",
    "st": "street",
}
"""The same of a last word: ``Main St`` is no saint."""

WRITTEN_SHORT: Final = frozenset([*ABBREVIATIONS, *LAST_ABBREVIATIONS, *NUMBER_WORDS, "and"])
"""Words that ``written-out`` writes otherwise or leaves out."""

KIND_WORDS: Final = frozenset(
    "os linux framework server cms db database dbms toolkit platform engine browser editor "
    "webmail language firmware kernel runtime suite programming "
    "similarity distance metric coefficient index algorithm method detection scorer "
    "alliance organization organisation association university institute foundation bank".split()
)
"""Words that say of what kind a thing is; behind a name of one word they add nothing to it. Words
for a part of a thing (``cli``, ``client``, ``sdk``) or for another thing (``group``) are not
among them."""

VENDORS: Final = frozenset(
    "adobe alibaba amazon amd apache apple arm atlassian aws azure broadcom cisco citrix cloudflare "
    "couchbase dell eclipse elastic f5 fortinet gnu google hashicorp hp hpe huawei ibm intel "
    "jetbrains juniper meta microsoft mozilla ms nvidia nutanix openai oracle proxmox redhat "
    "samsung sap siemens sony suse tencent vmware".split()
)
"""Makers whose name is put before those of their products."""

PLACE_KINDS: Final = frozenset(
    "republic state kingdom city province region island commonwealth principality county country "
    "municipality district prefecture canton emirate sultanate duchy town village river".split()
)
"""What a place is, before "of" or in brackets: ``Republic of Georgia``, ``Georgia (country)``."""

_LANDS: Final = """
afghanistan|albania|algeria|angola|argentina|armenia|australia|austria|azerbaijan|bahrain|bangladesh
belarus|belgium|bolivia|bosnia and herzegovina|botswana|brazil|bulgaria|cambodia|cameroon|canada
chile|china|colombia|congo|costa rica|croatia|cuba|cyprus|czech republic|czechia|denmark|ecuador
egypt|england|estonia|ethiopia|finland|france|germany|ghana|greece|guatemala|honduras|hong kong
hungary|iceland|india|indonesia|iran|iraq|ireland|israel|italy|jamaica|japan|jordan|kazakhstan|kenya
kuwait|laos|latvia|lebanon|libya|lithuania|luxembourg|macedonia|malaysia|mali|malta|mexico|moldova
mongolia|montenegro|morocco|mozambique|myanmar|namibia|nepal|netherlands|new zealand|nicaragua
nigeria|north korea|north macedonia|northern ireland|norway|oman|pakistan|panama|paraguay|peru
philippines|poland|portugal|qatar|romania|russia|rwanda|saudi arabia|scotland|senegal|serbia
singapore|slovakia|slovenia|somalia|south africa|south korea|korea|spain|sri lanka|sudan|sweden
switzerland|syria|taiwan|tajikistan|tanzania|thailand|tunisia|turkey|türkiye|turkmenistan|uae|uganda
uk|ukraine|united arab emirates|united kingdom|united states|uruguay|us|usa|uzbekistan|venezuela
vietnam|wales|yemen|zambia|zimbabwe|europe|asia|africa|america|north america|south america
alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho
illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota
mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|new york
north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina
south dakota|tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming
ontario|quebec|alberta|british columbia|queensland|victoria|new south wales|bavaria|saxony
"""

LANDS: Final = frozenset(
    land.replace(" ", "") for land in _LANDS.replace("\n", "|").split("|") if land
)
"""The letters of countries, and of states that stand behind a place's name. In brackets they say
where a thing is, not what else it is called; a company's branch there is another company."""

VARIANTS: Final = frozenset(
    "pro max plus mini ultra lite lts ltsc ltsb esr neo power play air se fe turbo nano flash super "
    "ti xl xt gt slim fold flip fusion prime active zoom preview beta alpha rc".split()
)
"""Words behind a number that name another product, edition or stage (``iPhone 16 Pro``)."""
