"""Words that the rules know, in English, German, French, Spanish, Portuguese and Italian.

Data only. Forms in any of the languages stand for one English key, so that each rule is written once. All words are
case-folded (``ß`` is ``ss``); an English word that no table holds is stemmed.
"""

from recollect.reconciling.wordlists import forms, keys, words

ARTICLES = words(
    "a an the der die das den dem des ein eine einen einem einer eines le la les l un une el los las una unos unas "
    "o os um uma il lo gli dell della dello del dei degli delle du de d of"
)
GENITIVES = words("of von vom des du de d del do da dell della dello di")
COPULAS = words(
    "be is are am was were being ist sind est sont suis était es soy era é sou são é è sono fue foi está estoy están"
)
AUXILIARIES = words(
    "do does did will would shall can could should must kann been muss müssen soll sollen werden wird wurde wurden"
)
FILLERS = words(
    "please also really just very quite so there ever bitte still noch ancora encore todavía aún ainda aussi también anche também auch"
)
PERFECT = words("has have had")

SELF = words(
    "i me user we us ich wir nutzer nutzerin benutzer je j moi utilisateur utilisatrice nous yo usuario usuaria "
    "nosotros eu "
    "usuário usuária nós io utente noi"
)
MY = words(
    "my our mein meine meinen meinem meiner unser unsere mon ma mes notre nos mi mis nuestro nuestra meu minha "
    "meus minhas "
    "mio mia miei mie nostro nostra"
)
THEIR = words("his her their its seine seiner seinem seinen sein ihre ihrer ses sus seu sua suo")
ELISIONS = words("j l d n c qu m t dell all nell sull dall un")
IMPLIED_SELF = words(  # forms of verbs that say "I" without a pronoun
    "vivo tengo trabajo hablo bebo estudio moro tenho trabalho falo estudo abito lavoro ho parlo mangio studio fumo "
    "uso prefiero prefiro preferisco soy sou nací nasci"
)

VERB_FORMS = forms(
    "live:vit vis vivent vivir vivre habiter viver morar vivere abitare lives living lived reside resides resided wohne wohnt wohnen lebe lebt leben habite habitent vivo vive "
    "viven moro "
    "mora moram abito abita",
    "move:umziehen déménager mudar mudarse trasferirsi moves moved moving relocate relocates relocated umgezogen gezogen zog umzog déménagé mudó mudou trasladó trasladado emménagé trasferito trasferita",
    "work:arbeiten travailler trabajar trabalhar lavorare works working worked employed arbeite arbeitet travaille trabajo trabaja trabalho trabalha lavoro lavora",
    "have:has having had own owns owned possess possesses besitzt besitze possède possiede possiedo hat habe haben ai avons tengo tiene tienen tenho tem possui possuo posee "
    "ho ha hanno",
    "prefer:prefers preferred bevorzuge bevorzugt préfère prefiero prefiere prefiro prefere preferisco preferisce",
    "like:likes liked liking love loves loved loving enjoy enjoys enjoyed enjoying mag mögen liebe liebt aime "
    "aimons adore "
    "gusta gustan encanta gosto gosta adora adorer adorar adoro piace piacciono",
    "dislike:dislikes disliked hate hates hated detest detests hasse hasst déteste odio odia detesto odeia",
    "speak:sprechen parler hablar falar parlare speaks speaking spreche spricht parle hablo habla falo fala parlo parla",
    "drink:trinken boire beber bere drinks drinking trinke trinkt bois boit bebo bebe bevo beve",
    "eat:essen manger comer mangiare eats eating ate esse isst mange mangio mangia",
    "smoke:rauchen fumer fumar fumare smokes smoking smoked rauche raucht fume fumo fuma",
    "use:uses used using utilise utilisons usa uso usamos benutze benutzt verwende verwendet nutzt",
    "begin:beginnen commencer empezar começar iniziare begins beginning began start starts starting started beginnt commence empieza comienza começa inizia "
    "comincia",
    "end:ends ended ending finishes endet finit termina",
    "expire:expires expired caduca expira scade",
    "leave:parte partono parten partent leaves leaving left depart departs departed departing",
    "arrive:arrives arrived arriving",
    "cost:costs costing kostet coûte cuesta custa costa",
    "weigh:weighs weighed wiegt pèse pesa",
    "need:needs needed require requires required braucht brauche necesita precisa",
    "want:wants wanted möchte veux veut quiero quiere quero quer voglio vuole",
    "play:spielen jouer jugar jogar giocare plays playing played spiele spielt joue juego juega jogo joga gioco gioca",
    "run:runs running ran",
    "take:takes taking took nehme nimmt prends prend tomo toma prendo prende",
    "last:lasts lasting lasted dauert dure dura",
    "open:opens opened opening öffnet ouvre abre apre",
    "close:closes closing schliesst ferme cierra fecha chiude",
    "pay:pays paid paying zahlt",
    "write:schreiben écrire escribir escrever scrivere writes written writing wrote geschrieben écrit escrito scritto",
    "study:studieren étudier estudiar estudar studiare studies studied studying studiere studiert étudie estudio estudia estudo estuda studio studia",
    "visit:besuchen visiter visitar visitare visits visited visiting besucht visité visitado visitato visitei",
    "go:goes going went gehe geht vais vado",
    "learn:lernen apprendre aprender imparare learns learning learned learnt lerne lernt apprends apprend",
    "buy:buys buying bought purchase purchases purchased",
    "communicate:communicates communication",
    "manage:manages managed managing lead leads led leading",
    "host:hosts hosted hosting",
    "deploy:deploys deployed deploying",
    "schedule:scheduled planned geplant prévu programado",
    "locate:located situated based",
    "belong:belongs belonged",
    "support:supports supported supporting",
    "drive:drives driving drove driven fahre fährt fahren",
    "add:adds added adding",
    "know:knows knew known knowing",
    "answer:answers reply replies respond responds antworte réponds responde rispondi",
    "store:stores stored storing",
    "amount:beträgt betragen",
    "name:named called heisse heisst heissen appelle llamo llama chamo chama chiamo chiama",
)
VERBS = frozenset(VERB_FORMS.values()) | words(
    "format lint compile debug export import address ask notify tell inform include avoid ensure mention greet remind summarize translate explain provide approve "
    "submit upload download rename merge rotate convert escalate "
    "consist collect follow return keep get got grow grew watch read see sees meet met bring make made contain allow "
    "deny fix track call "
    "sell sold send wake wear drive ride swim sleep sit stand help seat calm teach cook bake train feel hold "
    "restart reset build "
    "built test plant become walk talk sing dance cut attend donate cancel quit stop change switch pass fail "
    "back complete join "
    "order book lend cache crash await accept reject paint serve ship hire spend save earn put show gave give "
    "die find lose win finish plan"
    " cook add check clear"
)
BASE_FORMS = VERBS | words(  # verbs in a form that may as well be a noun
    "lead love enjoy hate own start depart reside relocate require reply respond purchase possess detest"
)
NOUN_FORMS = forms(
    "child:children kid kids kinder kind enfant enfants hijos filhos figli bambini",
    "mother:mum mom mama mutter mère madre mãe",
    "father:dad papa vater père padre pai",
    "sister:schwester sœur soeur hermana irmã sorella",
    "brother:bruder frère hermano irmão fratello",
    "favourite:favorite favori préféré préférée favorito favorita preferito preferita",
    "colour:color colors colours",
    "bike:bicycle bicycles bikes",
    "movie:movies film films",
    "car:automobile",
    "phone:telephone",
    "email:mail",
    "big:large huge",
    "short:brief concise",
    "daily:everyday",
    "job:profession occupation",
    "flat:apartment apartments flats",
    "grey:gray",
    "doctor:physician",
    "quick:fast rapid",
    "ill:sick",
    "allergic:allergy allergies allergisch allergique alérgico alérgica allergico allergica",
    "fear:afraid scared fears",
    "boss:supervisor",
    "holiday:vacation vacations holidays",
    "over:rather",
    "born:nací nació nasci nasceu nato nata geboren né née",
    "named:namens nommé llamado llamada chamado chamada chiamato chiamata",
    "marry:married verheiratet geheiratet marié mariée casado casada sposato sposata",
    "single:ledig soltero soltera célibataire solteiro solteira celibe nubile",
    "due:fällig",
    "attorney:lawyer",
    "repo:repository",
    "config:configuration",
    "database:db",
    "production:prod",
    "app:application",
    "documentation:docs",
    "environment:env",
    "kubernetes:k8s",
    "postgresql:postgres",
    "javascript:js",
    "typescript:ts",
    "tv:television telly",
    "fridge:refrigerator",
    "photo:photograph photos photographs picture pictures",
    "sofa:couch",
    "waste:rubbish garbage trash",
    "often:frequently regularly",
    "sometimes:occasionally",
    "usually:normally typically generally",
    "company:firm employer",
    "salary:wage wages",
    "medicine:medication medications medicines",
    "forbidden:prohibited",
    "closed:shut",
    "trip:journey",
    "bug:defect",
    "task:chore",
    "clever:smart intelligent",
    "easy:simple",
    "aid:assistance",
    "laptop:notebook",
    "near:nearby",
    "remote:remotely",
    "severe:severely",
)

MULTI_VALUED = keys(
    "like dislike speak know have visit read watch buy eat drink allergic interest interested collect follow "
    "learn meet met attend "
    "play support see donate pay travel try order cook want fear plan interest interested"
)
EVENTS = keys(
    "visit read watched watch buy met meet saw travel donated finish finished completed attended ordered cooked "
    "made tried "
    "called sent won lost found had got fell broke booked walked talked celebrated flew drove ran ate paid "
    "bought went was war "
    "waren était fue foi did wrote moved started"
)
SINGLE_VALUED = keys(
    "live move name named born locate weigh cost last begin end expire leave arrive prefer favourite host locate "
    "due belong marry based "
    "answer schedule open close work"
)
PASSIVE_SINGLE = keys("write run host deploy store built build managed manage based locate format schedule led")
STATES = keys(
    "have use run need be amount take weigh cost last support pay require drink host deploy open close begin end expire"
)
SINGLE_ROLES = keys(
    "boss manager manage dentist doctor landlord landlady wife husband partner lead leader ceo cto cfo president "
    "treasurer chair "
    "chairman director head captain owner therapist accountant principal mayor spouse girlfriend boyfriend "
    "fiancé fiancée "
    "mother father secretary maintainer vermieter chef chefin zahnarzt jefe"
)
PEOPLE = keys(
    "i sister brother mother father wife husband partner son daughter child cousin aunt uncle niece nephew "
    "friend colleague "
    "neighbour neighbor grandmother grandfather grandma grandpa roommate boss landlord dog cat tochter sohn hija "
    "hijo filha filho "
    "fille fils figlia figlio freund freundin ami amie amigo amiga patient baby girlfriend boyfriend"
)
COLOURS = keys(
    "red blue green yellow black white grey brown orange pink purple silver beige turquoise violet rot blau grün gelb "
    "schwarz weiss rouge bleu vert noir blanc rojo azul verde negro blanco vermelho preto rosso nero bianco"
)
RECURRING = keys(
    "daily weekdays weekends mornings afternoons evenings nightly weekly monthly quarterly yearly hourly täglich"
)
LABELS = keys(
    "port version level line page slot gate room floor platform seat terminal building track desk extension line raum zimmer salle sala"
)
NAMING = keys(
    "favourite colour name address password status email phone mode number language branch type size model "
    "version title theme"
)
LINKS = words(
    "in on at to from with without for by about near under over into onto since because and or but which who "
    "that where when while "
    "after before between during through per than via every each especially mostly mainly primarily chiefly largely including above using if then "
    "around against "
    "as mit für seit bei nach von zu als und oder aus gegen um am im ohne weil avec pour depuis chez dans sur en "
    "à au aux et ou "
    "comme par sans con para desde por como y e em no na com sem per di al alle alla come su bis zur zum porque "
    "parce whose until jede jeden jedem jeder jedes vor auf"
)
CONTRASTING_LINKS = words(
    "before after from with without since until under over above below vor nach von ohne seit avant après depuis "
    "sans antes después "
    "depois desde sin sem prima dopo senza"
)
PREFERS = words("prefiero prefiere prefiro prefere preferisco preferisce")  # … "a", which is no article then
BEFORE_TIME = words("in on at um am im à en el a às alle il by due on")
COUNTRIES = keys(
    "germany france spain portugal italy austria switzerland belgium netherlands denmark sweden norway finland "
    "poland greece ireland "
    "england scotland wales britain uk usa canada mexico brazil argentina chile peru colombia china japan korea "
    "india australia "
    "turkey egypt morocco kenya nigeria israel ukraine russia europe asia africa america california texas "
    "bavaria deutschland "
    "österreich schweiz frankreich spanien italien allemagne espagne italie suisse alemania francia españa "
    "italia suiza alemanha "
    "espanha itália brasil méxico germania spagna portogallo"
)
LIGHT = words("have my their named name work i get suffer locate job")  # say nothing when all other words are the same
INTENTS = words(
    "hope might may maybe consider considering think wish would dream almost pretend try probably possibly "
    "perhaps formerly "
    "former ex previously until würde früher vielleicht peut-être quizás talvez forse believe"
)
MARKERS = words(
    "now actually instead currently jetzt maintenant désormais ahora agora adesso ora again meanwhile already nun"
)
KNOWN = (
    ARTICLES
    | COPULAS
    | AUXILIARIES
    | SELF
    | MY
    | THEIR
    | LINKS
    | VERBS
    | MARKERS
    | words("never always not no this that")
    | frozenset(VERB_FORMS)
    | frozenset(NOUN_FORMS)
)
