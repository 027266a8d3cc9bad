"""Closed lists of words that say whether a capital marks a name: curated, small, and data.

Each list states what it is for. A word is written in lower case unless its case is what matters.
"""

from __future__ import annotations

from typing import Final

ENGLISH: Final = frozenset(
    "a about above according across actually additionally after afterwards again against ago all "
    "almost along already also although always am among an and another any anybody anyone anything "
    "anyway apart apparently are around as aside at away back because been before behind being "
    "below beneath beside besides between beyond both but by can cannot could currently despite did "
    "do does done don't during each earlier either else even eventually ever every everybody "
    "everyone everything everywhere except few fewer finally first firstly following for formerly "
    "fortunately from further furthermore generally given had has have having he hence her here "
    "hers herself hi hello hey him himself his how however i i'd i'll i'm i've if in indeed initially "
    "inside instead into is it its itself just last lastly late lately later least less let let's "
    "like likewise many may maybe me meanwhile might mine more moreover most mostly much must my "
    "myself namely near nearly neither never nevertheless next no nobody none nonetheless nor "
    "normally not nothing now nowadays of off often oh ok okay on once one ones only onto or "
    "originally other others otherwise our ours ourselves out outside over overall own per perhaps "
    "please plus possibly presumably previously probably quite rather really recently regarding "
    "right same second secondly see seldom several shall she should similarly since so some "
    "somebody somehow someone something sometimes somewhere soon sorry specifically still such "
    "sure thank thanks that the their theirs them themselves then there thereafter therefore these "
    "they thing things third this those though three through throughout thus till to today "
    "together tomorrow tonight too toward towards two typically under unfortunately unless unlike "
    "until up upon us using usually very via was we well were what whatever when whenever where whereas "
    "wherever whether which whichever while who whoever whom whose why will with within without "
    "would yes yesterday yet you your yours yourself".split()
)
"""Words that begin an English sentence without being a name."""

STARTERS: Final = ENGLISH | frozenset(
    # German, French, Spanish, Italian, Portuguese, Dutch
    "aber als am auch auf aus bei bis das dass dein dem den der des die dies diese dieser doch du "
    "durch ein eine einem einen einer er es für gestern hat haben heute ich ihr im ist ja jetzt "
    "kein keine man mein meine mit morgen nach nein nicht nur oder ohne sein seine sich sie sind "
    "und uns unser unsere von vor war warum was wegen wenn wer werden wie wir wird wo zu zum zur "
    "alors après au aujourd'hui aussi aux avant avec ce cela ces cet cette chez comme dans de "
    "depuis des deux donc elle elles en est et hier il ils j'ai je l'on la le les leur leurs lui "
    "ma mais mes mon ne nos notre nous on ont ou où par parce pas pour pourquoi quand que qui sa "
    "sans ses si son sont sous sur ta tes ton tous tout toute très tu un une vos votre vous y "
    "ahora al anoche antes aquí así ayer aunque cada como con cual cuando cómo dónde del desde "
    "después donde el ella ellas ellos esta estamos este esto están está fue ha hace hasta hay hoy "
    "la las lo los mañana más me mi mis muy nada no nosotros nuestra nuestro o para pero por "
    "porque pues qué quién se sin sobre su sus también te tenemos todo todos un una unos usted ya yo "
    "anche ancora che chi ci come cosa da dal dalla dei della delle di dopo dove e fra gli i ieri "
    "il io lei loro ma mentre mia mio nel nella noi non oggi ogni per perché più poi quale quando "
    "quello questa questo sono sua sul sulla suo tra tutti tutto un uno voi "
    "agora ainda ao aos as à às com ela ele eles em então essa esse está eu foi há hoje isso já "
    "mas meu minha muito na nas no nos não nós os onde ontem para pela pelo porque quem são se "
    "sem seu seus sua também tem um uma você "
    "aan dat een en er geen gisteren heeft het hij hoe ik is jij maar met mijn naar niet om onze "
    "ook op te toen van vandaag veel voor wat we wij ze zij zijn "
    # Russian, Ukrainian, Greek
    "а без был была были было быть в вам вас вот все всё всем вчера вы где да для до его ее её если "
    "есть еще ещё же за завтра здесь и из или им их к как когда кто ли мне мой моя мы на нам нас "
    "наш наша не нет никто но о об он она они от очень по под после потом потому при про с сегодня "
    "сейчас со так там теперь то тоже только ты у уже хотя что чтобы эта эти это этот я ми він вона "
    "вони це та що як і й "
    "ο η το οι τα του της των τον την στο στη στην στον στα στις και να θα με για από σε αυτό αυτός "
    "αυτή εγώ εμείς εσείς χθες σήμερα αύριο όταν αν που πού πως πώς δεν μην είναι ένα ένας μια μία "
    "όλα όλοι".split()
)
"""The same in other languages. In English text these are names too: `Mia`, `Ella`, `Son`."""

COMMON: Final = frozenset(
    # people and groups
    "admin agent assistant attendees audience author authors boss buyer candidate children client "
    "clients colleague colleagues company contractor customer customers dad designer developer "
    "developers doctor employee employees engineer engineers family folks friend friends group guest "
    "guests husband kids lawyer lead leadership maintainer maintainers management manager managers "
    "member members mom mum mother father sister brother owner owners participants partner partners "
    "parents people person reporter reviewer reviewers son daughter staff stakeholders student "
    "students team teams teacher tester testers uncle aunt user users vendor visitor wife worker "
    "workers "
    # things of work
    "account accounts action actions address agenda alert alerts analysis announcement answer "
    "answers appendix application approval architecture archive area argument arguments article "
    "attachment attention background backlog backup backups bank batch benchmark benefits bill bills "
    "blocker blockers board book books branch budget bug bugs build builds bullet business button "
    "cache calendar call calls card case cases cause caution certificate chair change changelog "
    "changes channel chapter chart chat check checklist checks class cleanup closing cloud cluster "
    "code column comment comments commit commits communication comparison component components "
    "concern conclusion condition config configuration connection connections container content "
    "contents context contract contributing control conversation copy copyright cost costs country "
    "course coverage crash criteria cron dashboard data database date day deadline debugging "
    "decision decisions default definition delay delivery demo deploy deployment deployments design "
    "details device diagram difference directory disclaimer discussion disk docs document "
    "documentation documents domain downtime draft duration editor education email emails "
    "environment error errors estimate event events evidence example examples exception execution "
    "expense expenses experience experiment explanation export factory failure failures feature "
    "features feedback field fields figure file files finance flow folder follow-up food form format "
    "framework frontend backend function functions funding gate general glossary goal goals "
    "guide guidelines half health height help highlights hint hiring history home hosting hour hours "
    "house idea ideas image images impact implementation import important improvement incident "
    "incidents index info information infrastructure input inputs install installation instance "
    "instructions integration interface internet interview intro introduction investigation invoice "
    "issue issues item items iteration job jobs journal kernel key keys kitchen knowledge label "
    "language languages latency launch layer layout lesson lessons level library licence license "
    "limit limits line lines link links list load location lock log logging login logs lunch machine "
    "main maintenance market marketing master meeting meetings memory menu merge message messages "
    "method methods metrics migration migrations milestone milestones minutes mitigation mode model "
    "models module modules money monitor monitoring month monitors mood name names network news nodes note "
    "notebook notes notice notification notifications number object objective objectives office "
    "onboarding operation operations operator opinion option options order orders organization "
    "outage outcome outcomes output overview package packages page pages panel parameter parameters "
    "parser part parts passport password path pattern payment performance period permission "
    "permissions phase phone picture pipeline place plan planning plans plugin plugins point points "
    "policy pool port post power preference preferences presentation price pricing principle "
    "priorities priority privacy problem problems process processes product production profile "
    "program progress project projects prompt proof proposal prototype provider proxy purpose "
    "quality quarter query question questions queue quick quote rate reason reasons recap recipe "
    "record records reference references refactor region registration release releases reminder "
    "rent replica report reports repo repository request requests requirement requirements research "
    "resolution resource resources response responses responsibility rest restart result results "
    "retro retrospective return revenue review reviews revision rights risk risks roadmap role roles "
    "rollback rollout room root routing row rule rules salary sales sample scenario schedule "
    "scheduler schema school scope screen script scripts search section sections security sender "
    "sentence series server servers service services session sessions setting settings setup shop "
    "side sign signal site size skill skills slide slides software solution source space speaker "
    "spec specification speed sprint stack stage staging standup start state statement status step "
    "steps stock storage store story strategy stream structure style subject submission subscription "
    "suggestion summary support survey symptom symptoms syntax system systems tab table tables tag "
    "target targets task tasks tax technique technology template term terms test testing tests text "
    "theme theory thread ticket tickets time timeline timeout times tip tips title token tokens "
    "tool tools topic topics total track traffic training transaction transcript transition travel "
    "tree trip trouble truth tutorial type types ui unit update updates upgrade usage value values "
    "variable vehicle version versions video view vision visit volume wallet warning way web website "
    "week weekend weeks wifi window wiki winter summer spring autumn fall work workaround workflow "
    "workshop workspace world year years zone "
    # what a heading or a label is made of, and adjectives
    "above accepted active additional advanced allowed alternative annual automatic available bad "
    "basic best better big blocked breaking brief broken cc clean clear closed cold common "
    "complete confirmed correct critical current daily dear dead different direct due early easy "
    "empty enough entire existing expected expired external extra failed false fast final fine "
    "fixed free fresh front full future getting good great happy hard high hot huge ideal "
    "impossible incoming internal invalid large local long low major manual minor missing mobile "
    "modern monthly multiple nice nightly normal obvious official old open optional outgoing pending "
    "personal planned possible preferred previous primary private proper public random raw ready "
    "real recent regular related relevant remote removed required reserved resolved safe secondary "
    "secret senior separate short shared similar simple single slow small smart special specific "
    "stable standard static strict strong successful tentative tiny top total true typical "
    "unknown unresolved unused updated urgent useful valid weekly whole wrong young "
    # imperatives and other verbs that begin a note
    "accept access add adjust agree align allow alter analyse analyze apply approve arrange ask "
    "assign assume attach attend avoid await be begin block book bring bump buy cancel capture "
    "carry catch choose click close collect come compare compile compute configure connect "
    "consider contact continue convert correct count cover create cut debug decide declare "
    "decrease define delete deliver deprecate describe detect determine develop disable discuss "
    "dislikes displays drop dump edit eliminate enable ends enforce ensure enter escape evaluate "
    "examine exclude expand expect expire explain explore expose extend extract fail fetch fill "
    "filter find finish fix focus fold follow force forget forward freeze gather generate get give "
    "go got grant guard handle hates head hide hire hold identify ignore implement improve include "
    "increase inform init insert inspect investigate invite join keep kill know learn leave "
    "likes listen live lives look loves lower made make makes manage mark match measure meet mention "
    "met mind mock mount move moves name need needs normalize note notify offer omit paste pause pay "
    "perform pick pin ping plays point prefer prefers prepare press prevent print promote propose "
    "protect prove provide publish pull push put raise ran read rebase rebuild receive recommend "
    "reconsider record reduce refine reject reload rely remember remind remove rename render repair "
    "repeat replace reply reproduce require reset resolve respect respond restore restrict resume "
    "retry reuse revert revisit revoke rewrite roll rotate run runs said save saw say says scale "
    "scan schedule seems select send sent separate serve set share ship show shows shut simplify "
    "skip sleep sort speak spend split spoke squash start stay stop stores submit suggest supply "
    "suppress swap switch sync takes take talk talked tell think throw thought tidy told "
    "took toggle trace translate transfer treat trigger trim try tune turn undo uninstall unify "
    "unlock upload use used uses validate verify wait walk want wants warn wash watch went wire "
    "wishes wonder wrap write writes wrote yields "
    # what is everywhere
    "air blood bread breakfast cat coffee cooking dinner dog earth fire fish fruit fun god gold heart "
    "life light love luck magic math maths meat milk moon music nature noise pain peace physics "
    "rain rumor rumour sand science sleep snow society sport sports sugar sun tea traffic truth war "
    "water weather wind wine wood".split()
)
"""English words that stand at the beginning of notes, headings and labels, or on buttons, with a
capital. None of them is kept as a name of one word without more evidence than the capital."""

COMMON_ENDINGS: Final = (
    "tion tions sion sions ment ments ness ity ities ance ence ances ences ency ancy ship ism ing ings "
    "ly ful less ous able ible ical ized ised ures"
).split()
"""English endings of words that name no single thing: what has one at the start of a sentence needs
more evidence."""

MONTHS: Final = frozenset(
    "january february march april may june july august september october november december jan feb "
    "mar apr jun jul aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre enero febrero "
    "marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio "
    "aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho "
    "julho setembro outubro novembro dezembro".split()
)
DAYS: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays "
    "fridays saturdays sundays mon tue tues wed thu thur thurs fri sat sun montag dienstag mittwoch "
    "donnerstag freitag samstag sonntag christmas easter halloween thanksgiving ramadan hanukkah "
    "diwali xmas".split()
)
PEOPLES: Final = frozenset(
    "american english british french german spanish italian portuguese dutch russian chinese "
    "japanese korean arabic hebrew hindi bengali urdu turkish polish swedish norwegian danish "
    "finnish greek czech slovak hungarian romanian bulgarian ukrainian serbian croatian irish "
    "scottish welsh swiss austrian belgian canadian australian mexican brazilian indian pakistani "
    "persian thai vietnamese indonesian malay filipino african european asian latin mandarin "
    "cantonese catalan basque swahili tamil telugu israeli egyptian iranian americans germans "
    "europeans christian muslim jewish catholic buddhist".split()
)
"""Languages and peoples: written with a capital in English, and no names of single things."""

NEVER: Final = frozenset(
    "i i'd i'll i'm i've am pm bc ad utc gmt est pst cet cest god lord internet".split()
)
"""Written with a capital by convention, wherever they stand."""

GENERIC: Final = frozenset(
    "AC ACK AI AST DSL GC LRU MVC ORM REPL SPA SSR AM API APIS APR ASAP ATM BBQ BTW CAD CC CEO CET CEST CFO CI CIO CLI CMO COO CPO CPU CRUD CSV "
    "CTA CTO CV CVV DB DC DIY DM DNS DOB DST EDT EOD EOL EOF EOW EST ETA EUR FAQ FIFO FPS FTE FX FYI "
    "GB GBP GDP GMT GPU GUI HD HDD HQ HR ID IDE IDS IMO INR IO IP IRL IT JPG JPY KB KPI LAN "
    "LGTM LLM MB MR MSRP MVP NA NB NDA NGO NPS NSFW OK OKR OKRS OOM OOO OS PB PC PDF PDT PIN PM PNG POC POS "
    "PR PRS PS PST PTO PS QA RAM RCA RFP RIP ROI RPC RSVP RTFM SDK SKU SLA SLO SME SMS SSD SVG TB TBA "
    "TBC TBD TL TLDR TODO TV UAT UI UID UK URI URL URLS US USB USD USER UTC UUID UX VAT VM VP VPN WFH WIP "
    "YOLO YTD ZIP".split()
)
"""Short forms of words that name no thing of their own."""

SHOUTED: Final = frozenset(
    "AND ANY ARE BAD BIG BUG BUT CALL CAN CLOSED CRITICAL DANGER DEBUG DELETE DEPRECATED DO DOES DONE "
    "DOWN ERROR ERR FAIL FAILED FATAL FIX FIXME FIXED FOR FROM GET GOOD GO HACK HAS HAVE HELP HEY HIGH "
    "HOT HOW INFO INSERT INTO IS ITS JOIN KEY LOW MAX MIN MUST NEED NEVER NEW NEXT NONE NOT NOTE NOW "
    "NULL OFF OLD ON ONLY OPEN OR OUR OUT PASS PATCH PLEASE POST PUT READ RED RUN SELECT SET SHALL "
    "SHOULD SO STOP TABLE THAT THE THIS TOO TOP TRUE FALSE UP UPDATE URGENT USE VERY WAIT WARN WARNING "
    "WAS WE WHERE WHO WHY WILL WITH XXX YES YOU YOUR ZERO EM ALL AN AS AT BE BY HE HI IF IN ME MY NO OF "
    "TO TWO ONE ASK END ADD LOL OMG WTF".split()
)
"""Words that people write in capitals to be heard, and keywords."""

FILES: Final = frozenset(
    "Dockerfile Makefile README LICENSE CHANGELOG CONTRIBUTING Procfile Jenkinsfile Vagrantfile Gemfile "
    "Rakefile CODEOWNERS Containerfile Justfile Caddyfile".split()
)
"""Names of files that have no suffix."""

DOMAINS: Final = frozenset(
    "com org net io dev ai app co edu gov eu de uk fr es it nl ch at be se no dk fi pl cz ru cn jp kr in "
    "br au ca us info tech cloud xyz me local internal".split()
)
"""Endings of names of hosts."""

TAILS: Final = frozenset(
    "api app auth backend bot broker builder bundle cache ci cli client collector config connector "
    "consumer controller cron daemon dashboard db engine exporter frontend gateway importer ingest indexer js "
    "lib loader mcp monitor operator parser pipeline plugin pool processor producer proxy py queue "
    "registry renderer repo rs router runner scheduler scraper sdk server service services site "
    "sidecar store svc tracker ui utils validator web webhook wiki worker workers".split()
)
"""Last parts of names of programs, as in ``billing-service``."""

PLAIN_HEADS: Final = frozenset(
    "a after anti at back build by cloud co code command community cross customer day double end "
    "event file first front full help high home in inter intra job key low message mobile multi "
    "native next non off on one open over per post pre private public quick read re real request "
    "response room second self server session single state sub task test thin third three two "
    "under unit up user web write".split()
)
"""What stands before such a part in ordinary words: ``self-service``, ``co-worker``."""

DATE_HEADS: Final = frozenset("top mid pre post late early covid mp win number level".split())

MEASURES: Final = frozenset(
    "utf-8 utf-16 utf8 utf16 sha-1 sha-256 sha1 sha256 sha512 md5 aes-128 aes-256 base64 base32 int8 int16 "
    "int32 int64 uint8 float16 float32 float64 x86 x64 arm64 amd64 e2e b2b b2c p2p i18n l10n a11y 2fa "
    "mp3 mp4 h264 phd msc bsc kb mb gb khz mhz ghz kwh kib mib gib mbps gbps db wifi iso-8859-1".split()
)
"""Words with digits or inner capitals that name no thing of their own."""

COUNTED: Final = frozenset(
    "figure fig step chapter section phase room table page version release level day week sprint part "
    "item issue line gate point round stage tier type class grade year volume vol no number task "
    "question question example option rule note season episode lesson unit floor building apt suite "
    "track day ticket pr mr bug team group row column error code status exit port article act scene "
    "http https pod appendix exercise problem case test slide milestone priority over under "
    "about around only another terminal flight chapter exhibit".split()
)
"""What a number counts instead of being its version: ``Figure 2``, ``Step 1``."""

UNITS: Final = frozenset(
    "seconds minutes hours days weeks months years times people users percent copies items lines pages "
    "files requests euros dollars pounds km kg tickets bugs tests laptops seats".split()
)
"""What is counted by a number that stands behind a name by chance: ``gave Ada 3 weeks``."""

EDITIONS: Final = frozenset(
    "Pro Max Plus Mini Ultra Turbo LTS Beta Alpha RC Lite Air SE Preview Flash Sonnet Opus Haiku "
    "Enterprise Community".split()
)
"""What goes on behind a version: ``iPhone 15 Pro``."""

TITLES: Final = frozenset(
    "dr mr mrs ms mx miss prof professor sir dame rev reverend capt captain sgt lt herr frau mme mlle "
    "monsieur madame señor señora sr sra signor signora aunt uncle auntie grandma grandpa judge senator "
    "доктор профессор г-н г-жа".split()
)
"""Forms of address: what follows is a person."""

KIN: Final = frozenset(
    "sister brother daughter son wife husband mother father mom mum dad friend cousin partner colleague "
    "coworker manager boss teammate landlord landlady dentist doctor neighbour neighbor nephew niece "
    "uncle aunt girlfriend boyfriend fiancé fiancée therapist lawyer accountant assistant roommate "
    "flatmate grandmother grandfather grandma grandpa mentor coach teacher plumber engineer designer "
    "developer tutor professor".split()
)
"""Words for a person, which a name may follow: ``my sister Clara``."""

GIVEN: Final = frozenset(
    "aaron abdul abigail ada adam adele adriana agnes ahmed aisha alan albert alessandro alex alexander "
    "alexandra alfred ali alice alina alison amanda amelia amir amit amy ana anastasia andre andrea "
    "andreas andrew andrzej angela anika anita anna anne annika anthony antoine antonio anya arjun arthur "
    "astrid ayesha barbara beatrice ben benjamin bernard beth bianca bjorn boris brenda brian bridget "
    "bruno camille carlos carmen carol caroline caspar catherine cecilia charles charlie chen chloe "
    "chris christian christina christine christopher claire clara claudia clemens colin cynthia daniel "
    "daniela david deborah deepak denise dennis diana diego dimitri dmitri dmitry dominik donald donna "
    "dorothy edith eduardo edward eileen elena eleanor eli elias elisabeth elizabeth ella ellen emily "
    "emma emre enrique eric erik erika ernest esther eugene eva evelyn fabian fatima felix fernando "
    "fiona frances francesca francesco francis franz fred frederick friedrich gabriel gabriela "
    "gareth gary george gerald gerhard giovanni giulia grace graham greg gregory greta guillaume gustav "
    "hannah hans harold harriet harry hassan heather heinrich helen helena helga henri henry herbert "
    "hiroshi hugo ibrahim ida igor ingrid irene irina isaac isabel isabella ivan jacob jacques james jan "
    "jana jane janet janice jason javier jean jeanne jeff jeffrey jennifer jens jeremy jessica jim joan "
    "joanna joao joe joel johann johanna john jonas jonathan jorge josé joseph josh joshua juan judith "
    "julian julie jürgen karen karin karl katarzyna kate katherine kathleen katja keith kelly ken "
    "kenji kenneth kevin kim klaus kofi konrad kristin krzysztof kumar kurt kyle lars laura lauren laurent "
    "lea lena leo leon leonard leonardo leticia lewis liam lina linda lisa louis louise luca lucas lucia "
    "lucy luis luisa luke magdalena magnus malik manuel marco marcus margaret margit maria marie marina "
    "mario marion marta martha martin martina mary mateo mathias matthew matthias maurice maya megan "
    "mehmet mei melanie melissa mia michael michelle miguel mikhail mila mohamed mohammed moritz mustafa "
    "nadia nancy naomi natalia natalie natasha nathan nicholas nick nicolas nicole niels nikita niklas "
    "nikolai nina noah noor nora norbert oleg olga oliver olivia omar oscar otto pablo paola patricia "
    "patrick paul paula pauline pavel pedro peter petra philip philipp pierre piotr priya rachel rafael "
    "raj rajesh ralph ramón rania raphael rashid raúl rebecca reinhard renata ricardo richard rita robert "
    "roberta roberto roger roland ronald rosa rosemary ruth ryan sabine salma samantha samir samuel "
    "sandra sanjay sara sarah satoshi sebastian sergei sergey sergio shirley siddharth sigrid silvia "
    "simon simone sofia sonia sonja sophia sophie stefan stefanie stella stephanie stephen steve steven "
    "stuart sunita susan susanne svetlana sylvia tamara tanja tanya tariq tatiana teresa theo theresa "
    "thomas tim timothy tobias tomasz tomáš tony ulrich ursula valentina valerie vera veronica vijay "
    "vikram viktor viktoria vincent vladimir walter wanda wei werner wilhelm william wolfgang xavier yan "
    "yasmin yuki yuri yusuf yvonne zainab zofia zoe zoë "
    "александр алексей анна андрей артём борис вера виктор владимир дарья дмитрий екатерина елена иван "
    "ирина кирилл ксения максим мария михаил наталья никита николай ольга павел пётр сергей татьяна юрий "
    "γιάννης ελένη μαρία νίκος".split()
)
"""Given names that are no word, place or product as well: what begins with one is a person. Written
by hand; one that is missing costs a type, not a name."""

ORGANIZATIONS: Final = frozenset(
    "inc ltd llc llp gmbh ag corp corporation company co plc bv nv sa sas sarl spa srl ab oy kg ug pty "
    "holdings limited foundation bank university universität université universidad universidade "
    "institute institut instituto college hospital ministry agency council labs lab laboratory "
    "laboratories ventures partners society association club times robotics traders industries "
    "motors airlines airways orchestra committee department consortium".split()
)
"""Last or first words of names of organizations."""

PLACES: Final = frozenset(
    "street avenue road square park tower bridge river lake mount mountain mountains island islands airport "
    "valley beach city county bay palace cathedral plaza boulevard ocean desert peninsula".split()
)
EVENTS: Final = frozenset(
    "conference summit marathon festival meetup hackathon symposium olympics congress con days expo "
    "webinar offsite".split()
)
GROUPS: Final = frozenset("team squad guild crew department".split())
"""Words that make a name of what stands before them: ``Payments team``."""

OF: Final = frozenset(
    "university bank institute ministry department house lord lords museum church republic kingdom isle "
    "bay cape tower book art guild order council academy college school board duke king queen states "
    "gulf sea port statue league bureau office society call age game gates district museum "
    "commonwealth province temple club history ministry".split()
)
"""What a name may go on behind with "of": ``Bank of England``, but not ``Ada of Acme``."""

PARTICLES: Final = frozenset("van von der den ter bin ibn al zu zur".split())
ROMANCE_PARTICLES: Final = frozenset("de del della di da du dos la le".split())
"""Small words within names of people; the second kind are plain words where the text itself is in
such a language."""

ROLES: Final = frozenset(
    "head director vp chief president manager engineer lead senior junior principal vice secretary "
    "minister chair chairman chairwoman professor founder".split()
)
"""Roles, written with capitals in signatures: ``Head of Engineering`` names nobody."""

ABBREVIATED: Final = frozenset(
    "st dr mr mrs ms mx prof inc ltd co corp jr sr vs etc e.g i.e al fig no vol dept approx mt ft rev capt sgt lt "
    "gen col cf ca resp incl bzw z.b u.a".split()
)
"""Words whose full stop ends no sentence."""

KINDS: Final = {
    "project": "project",
    "initiative": "project",
    "library": "technology",
    "framework": "technology",
    "language": "technology",
    "protocol": "technology",
    "database": "technology",
    "algorithm": "technology",
    "model": "technology",
    "app": "tool",
    "editor": "tool",
    "plugin": "tool",
    "tool": "tool",
    "cli": "tool",
    "agent": "agent",
    "conference": "event",
    "company": "organization",
    "startup": "organization",
}
"""Plain words behind a name that say what it is: ``the Falcon project``."""

BESIDE: Final = frozenset(
    "package packages repo repository branch module crate library image pod namespace service gem "
    "container bucket cluster host queue job database table dependency".split()
)
"""Plain words that stand beside the name of such a thing: ``the date-fns package``."""

VERBS: Final = frozenset(
    "is was are were has had does did will would can could should might may must isn't wasn't hasn't "
    "doesn't didn't won't can't uses use used depends depend relies works work worked lives live lived "
    "joined joins wrote writes built created creates said says asked asks wants wanted likes "
    "liked loves loved prefers preferred hates moved met meets sent sends told tells thinks thought "
    "knows knew needs needed ran owns owned led manages managed attended attends visited "
    "visits married studied studies teaches taught played reported suggested suggests "
    "proposed agreed agrees disagreed reviewed deployed restarted "
    "confirmed noticed found made makes took takes gave gives got gets came comes went goes left "
    "called presented explained promised decided offered bought sold listens speaks spoke "
    "drinks eats supports replaced replaces provides requires "
    "returned released maintains maintained designed developed founded started stopped started keeps "
    "kept allows lets handles belongs became becomes remains also still now recently already currently "
    "woke shipped acquired announced launched hired promoted handed won "
    "arrived arrives stays stayed travels travelled traveled introduced invited "
    "arbeitet wohnt lebt sagt sagte hat ist nutzt travaille habite vit utilise dit est a aime vive trabaja "
    "usa dijo es está tiene utiliza lavora abita è dice ha trabalha mora disse tem usa работает живёт живет "
    "сказал сказала любит использует переехал переехала написал написала εργάζεται ζει μένει είπε".split()
)
"""What a name at the start of a sentence does; a common noun there would have an article."""

PERSONAL: Final = frozenset(
    "married studied studies loves drinks eats listens speaks sleeps teaches taught thinks said told "
    "birthday asked likes hates".split()
)
"""What people do, and hardly anything else."""

LITERALS: Final = frozenset(
    "true false null none nil undefined nan self this main id str int float bool string number list dict "
    "tuple set object array map void char get post put delete patch head options yes no on off and or "
    "not if else elif for while return import from class def fn func function var let const new async await "
    "try except catch finally raise throw with as in is pass break continue default key value name type "
    "text data test foo bar baz x y z i j k n a b c ok todo cd ls rm mv cp echo cat".split()
)
"""What stands in a code span without naming a thing of its own."""

NOT_HANDLES: Final = frozenset(
    "param params return returns property override media todo deprecated staticmethod classmethod import "
    "here channel everyone all see dataclass pytest fixture test app cached_property abstractmethod "
    "overload component input output type types latest".split()
)
"""What follows an ``@`` in code and in chats without being somebody."""

KATAKANA: Final = frozenset(
    "サーバー サーバ データ ユーザー ユーザ メール コード ファイル システム サービス プロジェクト チーム テスト エラー バグ リリース "
    "デプロイ ミーティング スケジュール アプリ アプリケーション ソフトウェア ハードウェア ネットワーク データベース クライアント "
    "プログラム プログラマー エンジニア デザイナー マネージャー リーダー メンバー パスワード ログイン アカウント ページ サイト "
    "ウェブ ブラウザ インターネット ニュース ビデオ ゲーム テレビ ラジオ カメラ スマホ スマートフォン パソコン コンピュータ "
    "コンピューター メモリ メモリー ディスク バージョン アップデート バックアップ インストール ドキュメント レポート "
    "メッセージ コメント タスク プラン テーマ アイデア イベント セミナー コーヒー ビール レストラン ホテル タクシー バス "
    "ドア テーブル ベッド シャツ クラス モデル パターン フォルダ フォルダー リンク ボタン メニュー ウィンドウ クリック "
    "オフィス ビジネス マーケティング コスト リスク ルール プロセス ステップ レベル スピード サイズ カラー エージェント "
    "プレゼン オンライン オフライン キーボード マウス モニター スクリーン プリンター ライブラリ フレームワーク クラウド "
    "アメリカ人 ドイツ語 フランス語 スペイン語 イタリア語".split()
)
"""Japanese loan words that are ordinary words."""

LANGUAGES: Final = {
    word: language
    for language, words in {
        "en": "the and is was are with for that this we you our of from has have not it to in on at",
        "de": "der die das und ist nicht wir haben hat mit für auf den dem ein eine einen im läuft "
        "bei zum zur wird werden sich auch noch nach von",
        "romance": "el los las le les des une un una il gli della di que qui est es et y en dans por "
        "para com não con del au aux sur chez usa vive à lavora travaille trabalha na no em do da "
        "rencontré elle nous che per",
    }.items()
    for word in words.split()
}
"""Frequent small words, by the language whose capitals are to be read otherwise."""
