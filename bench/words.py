"""The word lists that ``generate`` builds its names from: small, written by hand, and data.

Real words make the head of every distribution; ``generate`` grows the tails from the pieces below.
"""

from __future__ import annotations

from typing import Final

FIRST_ENGLISH: Final = (
    "James Mary John Patricia Robert Jennifer Michael Linda David Elizabeth William Barbara "
    "Richard Susan Joseph Jessica Thomas Sarah Charles Karen Christopher Lisa Daniel Nancy "
    "Matthew Betty Anthony Sandra Mark Margaret Donald Ashley Steven Kimberly Andrew Emily Paul "
    "Donna Joshua Michelle Kenneth Carol Kevin Amanda Brian Melissa George Deborah Timothy "
    "Stephanie Ronald Rebecca Jason Laura Edward Helen Jeffrey Sharon Ryan Cynthia Jacob Kathleen "
    "Gary Amy Nicholas Angela Eric Shirley Jonathan Brenda Stephen Emma Larry Anna Justin Pamela "
    "Scott Nicole Brandon Samantha Benjamin Katherine Samuel Christine Gregory Rachel Alexander "
    "Carolyn Patrick Janet Frank Maria Raymond Catherine Jack Heather Dennis Diane Jerry Olivia "
    "Tyler Julie Aaron Joyce Henry Victoria Douglas Kelly Peter Christina Adam Joan Nathan Evelyn "
    "Zachary Lauren Walter Judith Kyle Megan Harold Cheryl Carl Martha Jeremy Andrea Gerald "
    "Frances Keith Hannah Roger Jacqueline Arthur Ann Terry Jean Lawrence Alice Sean Kathryn "
    "Christian Gloria Ethan Teresa Austin Sara Joe Janice Albert Doris Jesse Madison Willie Julia "
    "Billy Grace Bryan Judy Bruce Abigail Noah Theresa Jordan Sophia Dylan Beverly Ralph Denise "
    "Roy Marilyn Alan Amber Wayne Charlotte Eugene Natalie Juan Isabella Gabriel Danielle Louis "
    "Brittany Russell Rose Randy Diana Vincent Alexis Philip Lori Logan Kayla Bobby Ada Grover "
    "Winifred Desmond Beatrix Cedric Imogen Rupert Harriet Alistair Fiona Callum Isla Ewan Morag "
    "Rhys Cerys Siobhan Declan Niamh Cormac"
).split()

LAST_ENGLISH: Final = (
    "Smith Johnson Williams Brown Jones Davis Miller Wilson Anderson Thomas Taylor Moore Jackson "
    "Martin Lee Thompson White Harris Clark Lewis Robinson Walker Young Allen King Wright Scott "
    "Hill Green Adams Baker Nelson Mitchell Roberts Carter Phillips Evans Turner Parker Collins "
    "Edwards Stewart Morris Murphy Cook Rogers Morgan Cooper Peterson Bailey Reed Kelly Howard "
    "Ward Cox Richardson Watson Brooks Wood James Bennett Gray Hughes Price Myers Long Foster "
    "Sanders Ross Powell Sullivan Russell Ortiz Jenkins Perry Butler Barnes Fisher Henderson "
    "Coleman Simmons Patterson Jordan Reynolds Hamilton Graham Kim Griffin Wallace Cole West "
    "Hayes Bryant Gibson Ellis Stevens Murray Ford Marshall Owens Macdonald Kennedy Wells Woods "
    "Lovelace Hopper Turing Babbage Wheeler Pemberton Cholmondeley Featherstone Abernathy Quigley "
    "O'Brien O'Connor O'Neill McAllister McCarthy McGregor Fitzgerald Fitzpatrick Llewellyn"
).split()

ENGLISH_STARTS: Final = (
    "Ash Black Brad Brock Burn Cald Can Carl Chat Clay Cran Cum Dal Den Dray East El Fair Farn "
    "Fen Gar Glan Had Ham Hart Hather Hazel Hol Hunt Kel Ken Kings Lang Lark Lin Lock Mar May Mel "
    "Nor Oak Oxen Pem Quar Rad Red Rock Rush Shel Sher Sil South Stan Stock Sut Swin Thorn Til "
    "Wal Wake Wes Whit Wild Win Wy York"
).split()
ENGLISH_ENDS: Final = (
    "bourne bridge brook burn bury by combe cott croft dale den don field ford gate ham hurst "
    "land leigh ley low man mere mond more ridge shaw shire side stead stock stone thorpe ton "
    "tree wald ward water way well wick win wood worth"
).split()

FIRST_SPANISH: Final = (
    "María José Antonio Carmen Juan Ana Manuel Isabel Francisco Dolores Javier Pilar Carlos "
    "Teresa Miguel Rosa Rafael Cristina Pedro Ángeles Ángel Lucía Alejandro Elena Fernando Marta "
    "Luis Sofía Sergio Paula Pablo Raquel Jorge Mercedes Alberto Rocío Álvaro Inés Diego Beatriz "
    "Raúl Nuria Adrián Silvia Óscar Verónica Iván Patricia Rubén Ximena Joaquín Guadalupe João "
    "Thiago Gonçalo Conceição Vitória Heitor Luiz Mateus Letícia Caio Renata"
).split()
LAST_SPANISH: Final = (
    "García Rodríguez González Fernández López Martínez Sánchez Pérez Gómez Martín Jiménez Ruiz "
    "Hernández Díaz Moreno Muñoz Álvarez Romero Alonso Gutiérrez Navarro Torres Domínguez Vázquez "
    "Ramos Gil Ramírez Serrano Blanco Molina Morales Suárez Ortega Delgado Castro Ortiz Rubio "
    "Marín Sanz Núñez Iglesias Medina Garrido Cortés Castillo Santos Lozano Guerrero Cano Prieto "
    "Méndez Cruz Calvo Gallego Vidal León Herrera Márquez Peña Flores Cabrera Campos Vega Silva "
    "Oliveira Souza Pereira Carvalho Almeida Ribeiro Gonçalves Araújo Barbosa Assunção"
).split()

FIRST_EUROPEAN: Final = (
    "Jean Pierre Marie François Hélène Étienne Chloé Léa René Zoé Mathieu Aurélie Benoît Céline "
    "Jérôme Amélie Hans Jürgen Günther Wolfgang Ursula Heike Anke Björn Sören Uwe Katrin Matthias "
    "Sabine Thorsten Lukas Leonie Giovanni Giulia Francesco Chiara Alessandro Federica Matteo "
    "Elisa Lorenzo Beatrice Davide Sofie Lars Ingrid Åsa Nils Freja Mikkel Øyvind Siri Håkon Aino "
    "Eero Päivi Jussi Willem Anneke Pieter Femke Jeroen Sanne Maarten Lotte Eleni Giorgos Nikos "
    "Despina Zoltán Ágnes László Katalin Jiří Zdeněk Božena Václav Radka Agnieszka Łukasz "
    "Małgorzata Paweł Katarzyna Zbigniew Ștefan Ioana Andrei Mihaela Jovana Dragan Milica Goran "
    "Mehmet Ayşe Çağla"
).split()
LAST_EUROPEAN: Final = (
    "Dubois Lefèvre Moreau Girard Rousseau Fournier Lambert Mercier Beauchamp Chevalier Gauthier "
    "Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Koch Bauer "
    "Richter Klein Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange "
    "Krause Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Conti Bruno "
    "Gallo Hansen Johansen Olsen Larsen Andersson Karlsson Nilsson Eriksson Lindqvist Bergström "
    "Sjöberg Korhonen Virtanen Mäkinen Nieminen Jansen Bakker Visser Smit Meijer Hendriks "
    "Papadopoulos Nagy Kovács Tóth Szabó Horváth Novák Svoboda Dvořák Procházka Kowalski "
    "Wiśniewski Wójcik Kamiński Lewandowski Zieliński Szymański Popescu Ionescu Jovanović "
    "Petrović Yılmaz Öztürk"
).split()
EUROPEAN_STARTS: Final = (
    "Adel Alten Berg Birken Blanc Bonn Brand Chau Clair Dall Daub Eber Eng Falken Fer Fleur Frank "
    "Gold Grün Hagen Haupt Hirsch Holm Jäger Kauf Kirch Kross Lang Lau Linden Lud Lund Mann Marti "
    "Mont Mor Nieder Nord Ober Öst Palm Pfeif Quin Reich Riem Rosen Roth Sand Schön Sieg Sonn "
    "Stein Strand Sund Thal Trau Ull Vester Vill Wald Wein West Wind Zell Zick"
).split()
EUROPEAN_ENDS: Final = (
    "ard aud bach back baum beck bein berg berger bert blad blom court dahl eau egger elin er "
    "feld ier gren hagen hauer haus heim hof holm huber ier ing kamp ling lund mann meier mont "
    "mark otti qvist reich rot sen son ske ski stein stad ström thal wald witz"
).split()

FIRST_ASIAN_LATIN: Final = (
    "Wei Fang Min Jing Lei Yang Hui Xin Yan Jun Ying Hao Ming Xiaoming Yuxuan Zihan Haoran "
    "Mengyao Aarav Priya Rohan Ananya Vikram Deepika Arjun Kavya Rahul Sneha Sanjay Lakshmi "
    "Venkatesh Raj Neha Suresh Pooja Amit Divya Manish Shreya Karthik Meera Hiroshi Yuki Takeshi "
    "Sakura Kenji Aiko Haruto Yui Satoshi Naoko Daisuke Emi Minjun Seoyeon Jihoon Hyejin Youngho "
    "Nguyen Anh Linh Minh Thanh Huong Tuan Phuong Siti Budi Dewi Agus Putri Ahmad Fatima Mohammed "
    "Aisha Omar Layla Yusuf Zainab Khalid Noor Tariq Amina Hassan Mariam Ibrahim Rania Chinedu "
    "Ngozi Oluwaseun Adaeze Kwame Akosua Thabo Nomvula Wanjiru Kipchoge Tendai Amara"
).split()
LAST_ASIAN_LATIN: Final = (
    "Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo Lin Luo Zheng Liang Xie "
    "Singh Kumar Sharma Patel Gupta Reddy Iyer Nair Mehta Joshi Desai Chatterjee Mukherjee "
    "Banerjee Krishnan Subramanian Venkataraman Agarwal Kapoor Malhotra Bhattacharya Tanaka "
    "Suzuki Takahashi Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida Yamada Sasaki "
    "Matsumoto Inoue Kimura Park Choi Jung Kang Yoon Jang Lim Tran Pham Hoang Vu Dang Bui Wijaya "
    "Santoso Hidayat Khan Hussain Rahman Al-Farsi Al-Hashimi Haddad Mansour Khoury Nasser Okafor "
    "Adeyemi Eze Mensah Owusu Ndlovu Dlamini Mwangi Otieno Kamau Abebe Tesfaye"
).split()
ASIAN_STARTS: Final = (
    "Aki Ana Bala Bha Cha Chat Dev Fuji Gana Gopa Hara Hashi Hiro Ina Ishi Jaya Kama Kana Kita "
    "Koba Kri Kuro Laksh Maha Mat Mina Mura Naga Naka Nara Oka Oma Pada Parth Raja Rama Saka Sata "
    "Shiba Shiva Siva Subra Suda Taka Tani Tera Uchi Vasu Venka Vija Wata Yama Yoko Yoshi Ade Ayo "
    "Oba Oke Olu Nwa Chi Mbe Ndi Kwa Abd Far Haq Jaf Naj Qas Raf Sal Zub"
).split()
ASIAN_ENDS: Final = (
    "bara bayashi chandra dara da garajan gawa gi gupta guchi hashi jee kar ki kuma lingam moto "
    "mura murthy nath nan no oka patnam prasad raj raman rao sawa shima shita swamy ta tani "
    "tharan to uchi waki walla wane wole yama yan zaki ari an awi een ul eddin our ridi dogun "
    "yemi femi koya sanya"
).split()

FIRST_CYRILLIC: Final = (
    "Александр Сергей Елена Андрей Ольга Алексей Наталья Дмитрий Татьяна Иван Светлана Михаил "
    "Екатерина Владимир Ирина Николай Мария Павел Анна Евгений Людмила Олег Юлия Виктор Галина "
    "Константин Дарья Тарас Оксана Богдан Леся Георги Иванка"
).split()
CYRILLIC_ROOTS: Final = (
    "Иван Смирн Кузнец Попов Васил Петр Сокол Михайл Новик Федор Мороз Волк Алексе Лебед Семен "
    "Егор Павл Козл Степан Никола Орл Андре Макар Никит Захар Зайц Солов Борис Яковл Григор Роман "
    "Вороб Серге Фрол Александр Дмитр Королёв Гус Кисел Ильин Максим Поляк Сорок Виноград Богдан "
    "Белоус Журавл Шевч Тимош Кравч Бондар Мельн Гонч Руд Савч Литвин Ткач Кириль Афанас Ерм Щерб"
).split()
CYRILLIC_ENDS: Final = ("ов", "ев", "ин", "ский", "енко", "чук", "ова", "ева", "ина", "ская", "ец")

HAN_SURNAMES: Final = tuple(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡"
)
HAN_GIVEN: Final = tuple(
    "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉萍红文建国志海云飞鹏龙佳琪欣怡梓涵浩然宇轩诗雨晨曦思远"
    "博雅婷俊辉天翔子墨若兰凯乐瑞雪春燕秋月冬梅永康福生振东成功立新家豪美玲淑贞慧珍荣光学义仁信德礼智贤良"
)
JAPANESE_SURNAMES: Final = (
    "佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 "
    "清水 斎藤 阿部 池田 橋本 山崎 石川 中島 前田 藤田 小川 後藤 岡田 長谷川 村上 近藤 石井 坂本 "
    "遠藤 青木 藤井 西村"
).split()
JAPANESE_GIVEN: Final = (
    "翔太 健一 大輔 誠 陽菜 美咲 結衣 さくら 拓也 直樹 和也 達也 恵子 由美子 裕子 智子 洋子 "
    "真由美 明美 久美子 悠真 蓮 湊 葵 凛 紬 芽依 莉子 浩二 隆 茂 勝 正 清 進 実 千尋 薫 あおい "
    "ひなた 健太郎 慎一郎 雄大 奈々 麻衣"
).split()
HANGUL_SURNAMES: Final = tuple("김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심")
HANGUL_GIVEN: Final = tuple(
    "민서지우하윤도현수준예은채원시아주연진영호성재승혁태경동건희정미나라보람별빛솔찬"
)

TITLES: Final = ("Dr.", "Prof.", "Mr.", "Ms.", "Mrs.", "Sir")

COMPANY_SECOND: Final = (
    "Group Holdings Technologies Systems Energy Capital Partners Solutions International "
    "Industries Bank Pharmaceuticals Media Software Labs Motors Insurance Foods Logistics "
    "Networks Financial Airlines Electronics Chemicals Steel Consulting Entertainment "
    "Construction Engineering Health Services Therapeutics Robotics Semiconductor Resources "
    "Mining Brewery Publishing Records Studios Games Telecom Power Oil Gas Petroleum Investments "
    "Properties Realty Retail Stores Textiles Shipping Railways Aerospace Aviation Automotive "
    "Biotech Medical Diagnostics Instruments Optics Materials Plastics Paper Packaging Glass "
    "Cement Tools Machinery Works Manufacturing Trading Imports Distributors Supply Foundry "
    "Dynamics Analytics Interactive Digital Security Defense Cloud Data Computing Communications "
    "Broadcasting Press Books Education Academy Sports Fitness Apparel Footwear Jewelers "
    "Cosmetics Toys Furniture Design Architects Hotels Resorts Restaurants Coffee Wines "
    "Distillers Dairy Farms Seeds Agriculture Water Environmental Solar Wind Nuclear Hydro "
    "Ventures Equity Trust Savings Credit Payments Exchange Brothers Associates Union Cooperative "
    "Company Enterprises Development Research Institute Sciences Genomics Biosciences"
).split()
COMPANY_FIRST: Final = (
    "General American National United First Global Pacific Atlantic Northern Southern Royal "
    "Standard Universal Advanced Applied Central Continental Imperial Metropolitan Great Golden "
    "Silver Blue Red Green Black White Bright Clear Deep High New Next Open Prime Pure Quantum "
    "Rapid Smart Solid Summit Swift True Urban Vital Western Eastern Alpine Arctic Baltic Nordic "
    "Iberian Anglo Euro Trans Inter Allied Consolidated Associated Federal Liberty Pioneer "
    "Frontier Heritage Beacon Harbor River Mountain Ocean Forest Stone Iron Copper Falcon Eagle "
    "Lion Tiger Phoenix Dragon"
).split()
LEGAL_FORMS: Final = (
    "Inc.|Ltd|LLC|GmbH|Corp.|AG|S.A.|Corporation|Limited|PLC|S.p.A.|AB|B.V.|SAS|Pty Ltd|Oy|A/S|KG|"
    "Co., Ltd.|Inc|S.r.l.|N.V.|SE|Co.|KK|Pvt Ltd|d.o.o.|ASA|Sp. z o.o.|ООО"
).split("|")

COMMON_STEMS: Final = (
    "data model test user system time value code agent memory graph query search index store file "
    "event state service network message request response token session cache queue worker policy "
    "access control error report plan design review process change update build release market "
    "price cost risk credit trade energy power water climate carbon health care patient drug cell "
    "gene protein language text speech image video sound signal sensor motor vehicle traffic road "
    "city house school student teacher course book paper study theory method analysis structure "
    "function pattern rule logic proof set group field ring matrix vector space point line "
    "surface volume mass force field wave light heat pressure flow current charge storage "
    "security privacy trust identity role group team project task goal budget contract license "
    "payment account customer product feature brand campaign channel content media news story "
    "game level player score match season league food plant animal species forest river ocean "
    "soil crop farm island mountain history culture religion art music dance film poem novel "
    "language grammar meaning context attention embedding gradient loss layer kernel batch sample "
    "noise bias variance error rate learning training inference prediction decision preference "
    "feedback reward action environment object class type interface module package library "
    "framework platform tool editor terminal command script shell browser page form button menu "
    "window screen layout theme color font icon table column row key record entity relation "
    "schema migration backup replica shard cluster node container image registry deployment "
    "pipeline job schedule monitor metric alert log trace span tax law court crime police army "
    "border state nation party vote election minister parliament labor wage union factory machine "
    "engine tool material metal steel wood glass plastic fiber supply demand chain warehouse "
    "transport freight port ship train plane airport bridge tunnel brain nerve muscle bone blood "
    "heart lung skin eye sleep memory emotion stress pain diet sugar"
).split()
COMMON_MODIFIERS: Final = (
    "new open local global fast slow early late deep shallow large small high low long short hard "
    "soft dynamic static active passive direct remote public private shared common general "
    "special natural artificial digital virtual physical mental social political economic "
    "financial legal moral ethical technical scientific medical clinical industrial commercial "
    "military civil urban rural regional national international federal central distributed "
    "parallel sequential random stochastic statistical linear nonlinear quantum classical modern "
    "ancient human automatic manual continuous discrete hybrid mobile semantic visual spatial "
    "temporal causal recursive adaptive robust sparse dense weighted temporary permanent primary "
    "secondary critical optional default renewable sustainable organic chemical electric magnetic "
    "thermal optical acoustic nuclear"
).split()
DERIVATIONS: Final = (
    "{}s|{}-based|multi-{}|non-{}|cross-{}|meta-{}|micro{}|bio{}|geo{}|neuro{}|hyper{}|sub{}|"
    "inter{}|pre-{}|post-{}|self-{}|{}-free|{}-driven|{}-level|{}-aware|co-{}|anti-{}|semi-{}"
).split("|")

PACKAGE_WORDS: Final = (
    "react node vue core utils cli api http json yaml parser server client router store cache "
    "query graph sql db redis kafka auth jwt oauth crypto hash stream buffer async promise task "
    "queue cron log logger metrics trace test mock assert lint format style theme icons ui "
    "components form table chart map canvas svg image video audio pdf csv excel markdown editor "
    "syntax highlight code ast babel webpack rollup vite plugin loader preset config env dotenv "
    "path glob fs watch zip tar date time moment locale i18n intl string number math random uuid "
    "color type types schema validator model orm mongo postgres mysql sqlite storage s3 aws gcp "
    "azure docker kube helm terraform deploy release version semver git github slack discord bot "
    "scraper crawler browser driver proxy socket ws rpc grpc proto thrift avro arrow parquet "
    "frame array tensor torch keras learn stats plot viz geo gis text nlp token embed vector "
    "search index rank agent prompt chain tool mcp memory session state hooks context provider "
    "middleware adapter bridge wrapper helper runner worker pool thread lock signal event emitter "
    "bus pub sub mail smtp imap sms push notify"
).split()
SCOPES: Final = (
    "types babel angular aws-sdk azure google-cloud mui radix-ui tanstack storybook nestjs vue "
    "nuxt sveltejs testing-library typescript-eslint opentelemetry sentry stripe shopify "
    "graphql-tools apollo prisma trpc langchain modelcontextprotocol anthropic-ai huggingface "
    "tensorflow expo react-native emotion ant-design chakra-ui headlessui jest rollup vitejs swc "
    "fastify hapi"
).split()

MODEL_NAMES: Final = (
    "Opus Sonnet Haiku Gemini Llama Mistral Qwen Falcon Gemma Phi Command Titan Grok Nova Olmo Yi "
    "Granite Nemotron DeepSeek Codestral Pixtral Whisper Jamba Aya"
).split()
MODEL_VENDORS: Final = (
    "Claude",
    "Google",
    "Meta",
    "Amazon",
    "IBM",
    "Microsoft",
    "Nvidia",
    "Cohere",
)
MODEL_TAILS: Final = (
    "",
    "",
    "",
    " Pro",
    " Mini",
    " Flash",
    " Instruct",
    " Turbo",
    " Vision",
    " Lite",
)
PRODUCT_TAILS: Final = (
    "Server Studio Cloud OS Desktop Mobile Pro Enterprise Suite Platform Engine Manager Player "
    "Office Database Linux Gateway Router Firewall Phone Tab Watch Camera Printer Drive "
    "Workstation Monitor Analyzer Designer Builder Framework Runtime SDK Driver Agent Console "
    "Portal Vault"
).split()

PLACES: Final = (
    "London Paris Berlin Madrid Rome Vienna Prague Warsaw Budapest Lisbon Dublin Oslo Stockholm "
    "Helsinki Copenhagen Amsterdam Brussels Zürich Geneva München Köln Düsseldorf Tokyo Osaka "
    "Kyoto Seoul Beijing Shanghai Shenzhen Mumbai Delhi Bengaluru Chennai Kolkata Karachi Lahore "
    "Dhaka Jakarta Manila Bangkok Hanoi Singapore Sydney Melbourne Auckland Cairo Lagos Nairobi "
    "Accra Johannesburg Casablanca Tunis Istanbul Ankara Tehran Baghdad Riyadh Dubai Moscow Kyiv "
    "Minsk Toronto Montréal Vancouver Chicago Boston Seattle Denver Austin Houston Dallas Phoenix "
    "Atlanta Miami Detroit Portland Bogotá Lima Santiago Quito Caracas Havana 東京 北京 上海 서울 "
    "Москва Київ"
).split()
PLACE_ENDS: Final = (
    "ville burg ton stad grad field port mouth haven borough minster chester hausen dorf weiler "
    "bach ovo ice sk nagar pur abad garh gawa mura hama wick holm fjord vik lund ås illa ona eira"
).split()
PLACE_FORMS: Final = (
    "{}|{}|{}|{}|{}|New {}|Port {}|Saint {}|{} County|{} Heights|{} Bay|Lake {}|Mount {}|"
    "{} District|{} Valley|North {}|South {}|{} Springs|{} Beach|{} University|{} Airport|"
    "{} Island|San {}|Bad {}|{} River|Upper {}|Lower {}|{} Park|{} Station|{} Province"
).split("|")

CODE_VERBS: Final = (
    "get set load save parse read write open close create make build find fetch update delete "
    "remove add insert merge split sort filter map reduce render draw compute calc init start "
    "stop run handle process validate check is has to from encode decode encrypt hash format "
    "print log send receive connect bind listen dispatch emit register resolve normalize "
    "serialize convert apply reset clear flush sync retry schedule cancel acquire release lock "
    "mount patch clone copy move"
).split()
CODE_CLASSES: Final = (
    "Manager Handler Service Factory Builder Client Server Controller Provider Adapter Repository "
    "Parser Writer Reader Loader Formatter Validator Resolver Scheduler Worker Context Config "
    "Options Error Exception Event Listener Visitor Iterator Node Tree Graph Pool Queue Cache "
    "Store Registry"
).split()
FILE_FOLDERS: Final = (
    "src lib app core utils tests docs scripts api web server client config tools internal pkg "
    "cmd include assets components pages models views services hooks store packages examples"
).split()
FILE_SUFFIXES: Final = (
    ".py .ts .js .go .rs .md .json .yaml .toml .tsx .css .html .sql .sh .cpp .h"
).split()


ONSETS: Final = (
    "b c d f g h j k l m n p r s t v w z br bl ch cl cr dr fl fr gl gr kl kn kr pl pr qu sc sch "
    "sh sk sl sm sn sp st str sw th tr tw v w x y z ph kh zh ts vl"
).split()
VOWELS: Final = ("a a a e e e i i o o u a e i o ai au ea ee ei ia ie io oa oo ou ue y").split()
CODAS: Final = (
    "n r l s t m d k x nd nt rt rd rk rn ls lt ld lm ns st sk ck ng nk ft mp ct ph th sh rs tz ll "
    "rg"
).split()
PLAIN_ONSETS: Final = 18
"""The first so many onsets are single letters."""
SOFT_ENDS: Final = "a o i e ia in en el an us is ina ela ita iko un er or as ai".split()
BRAND_ENDS: Final = (
    "a o i ex ix is us on an en ia io os ica ora era ana eta iva exa ilo ium ent ant ess ard ell "
    "eon tec tech soft net ware data lab works point line gen max core link sys com plex pharm "
    "med bio dyn star view path mark land field wave way stone bank cast scape sense force logic "
    "cell rise nova"
).split()

OBSERVATIONS: Final = (
    "Mentioned in the weekly review.|Owner changed in spring.|Uses version {n} in production.|"
    "Asked about it on day {n}.|Depends on the billing service.|Was renamed once.|"
    "Located on floor {n}.|Prefers short answers.|Has {n} open tickets.|Works with the data team.|"
    "First seen in run {n}.|Needs a follow-up next week.|Marked as deprecated in {n}.|"
    "Is part of the migration plan.|Documented on page {n}.|Blocked until the audit ends.|"
    "Cited in report {n}.|Replaces an older system.|Scheduled for quarter {n}.|Runs every night."
).split("|")
