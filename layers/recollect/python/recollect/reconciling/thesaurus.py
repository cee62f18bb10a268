"""Words that say the same in ordinary talk, as classes: what paraphrases exchange.

Data only. Wider than the forms of ``lexicon``: the members of a class need not be interchangeable everywhere, but two
statements that are otherwise equal say the same with either. A word may be in several classes. Words of one kind that
exclude each other (colours, animals, foods, tools) never share one.
"""

from functools import lru_cache

from recollect.reconciling import lexicon, senses
from recollect.reconciling.tokens import Token
from recollect.text import stem

_CLASSES = (
    "live dwell stay inhabit home residence, job position role employ employment career, begin launch kick kickoff "
    "initiate, end finish conclude terminate complete, buy acquire, choose pick select opt settle decide, prefer like "
    "favour favor favourite fond rather appreciate into keen fan disfruta disfrutar encantar gustar preferir "
    "bevorzugen aimer apprécie apprécier gern liebsten, dislike loathe despise, want wish desire, lead head run "
    "oversee oversaw supervise direct leitet leiten geleitet dirige dirigé dirigida dirigido dirigir diretto guida, "
    "need must necessary necessity mandatory obligatory obligation requirement, use utilize utilizar employ nutzen "
    "verwenden benutzen usar utilizzare utilizza utiliza execute invoke run exécuter exécute ejecutar ejecuta "
    "executar executa eseguire esegue ausführen launch lancer, make create produce prepare generate build, fail break "
    "crash failure error, delete remove erase discard wipe, change alter modify edit adjust update amend, send mail "
    "ship deliver forward submit hand, store save keep, get receive obtain, check verify inspect examine review "
    "ensure confirm, ask inquire request consult, tell inform notify let know, talk speak chat discuss converse, meet "
    "gather gets, visit travel trip, show display present exhibit, watch view look see, help assist aid support, "
    "explain clarify describe explanation, avoid evade refrain, throw toss hurl, jump leap hop bounce, cut slice chop "
    "dice carve, put place lay insert, hold grip grasp carry, wear dress clad, grow raise, earn salary pay income "
    "makes, cost price fee charge pay amount kosten prix precio preço prezzo, tall height, last duration long take, "
    "study student learn major, teach instruct instructor, coach train, write author, drive car vehicle auto, cycle "
    "bike ride fahrrad rad, walk stroll foot hike, run jog, sit seat, sleep bed asleep, wake awake up rise, marry wed "
    "spouse, bear birth birthday geboren nacido nacida nascido nascida, die dead death deceased died passed, call "
    "phone ring, approve approval accept sign allow permit permission authorize, merge combine, handle deal "
    "responsible charge care, own belong got, deploy deployment rollout roll ship release, install installation "
    "setup, record log, expire lapse expiry expiration, rest relax, train practise practice exercise workout, travel "
    "trip voyage viajar viaje viagem viaggio viaggiare reise reisen, believe think find consider feel, become turn go "
    "get, home house place, flat condo piso appartement wohnung appartamento apartamento, roommate flatmate "
    "housemate, child offspring, husband spouse, boy guy, woman lady, person someone somebody people, friend buddy "
    "pal mate, colleague coworker workmate, boss superior, company business organization organisation, developer "
    "engineer programmer coder dev, physiotherapist physio, optician optometrist, teacher schoolteacher, song track, "
    "photo image, phone cellphone smartphone mobile handy, garden yard, road street, ocean sea, meal food dish, "
    "dinner supper, sweet candy, medicine drug pill tablet, illness disease sickness, injury wound hurt injured, "
    "vegetarian veggie, fear frightened terrified phobia fearful, introduction preamble intro, summary overview "
    "recap, problem issue trouble difficulty, task todo ticket, plan schedule intend previsto, deadline due cutoff, "
    "goal aim target objective, idea concept, part portion piece section, team group squad crew, area region district "
    "zone neighbourhood neighborhood, folder directory, flag option switch parameter, setting configuration "
    "configure, password passphrase passcode, documentation manual, database datenbank, website site webpage, server "
    "host machine box, golang go, pr prs, ui interface, production live, library package lib, function method "
    "routine, release veröffentlichung version lancement publicación lançamento rilascio publication, invoice bill "
    "receipt rechnung facture factura fatura fattura, report write-up bericht, message text note, newsletter mailing, "
    "holiday leave urlaub, subway metro underground tube, plane aeroplane airplane aircraft, truck lorry, soccer "
    "football, trainers sneakers, elevator lift, university college uni, degree diploma, exam test examination, "
    "course class lesson, gym fitness, language tongue, big great enormous, small little tiny, young little, gun "
    "pistol, marry husband, marry wife, long lengthy extended, short succinct terse, quick speedy quickly swiftly, "
    "easy straightforward, hard difficult tough challenging, important crucial essential vital key, whole entire "
    "complete full, new fresh brand, ill unwell, happy glad pleased content, angry mad furious, quiet silent, loud "
    "noisy, correct right accurate, wrong incorrect false, empty vacant blank, spicy hot, unsweetened sugarless "
    "sugar-free ungesüsst ungesüßt sugarfree, beautiful pretty lovely, usually mostly, together jointly, severe "
    "serious seriously strong strongly, fluent fluently speak, approximately about around roughly, only solely "
    "exclusively just, immediately right directly instantly, again anew, maximum max most, minimum min least, kaufen "
    "gekauft kauft, sprechen reden, coche carro automóvil, voiture auto bagnole, macchina auto automobile, carro "
    "automóvel, ordenador computadora, niño hijo, enfant gosse, comenzar empezar, terminar acabar, acheter achète, "
    "logement appartement, boulot travail emploi, médecin docteur, médico doctor, medico dottore, arzt ärztin, "
    "löschen entfernen, ordner verzeichnis, carpeta directorio, dossier répertoire, fly flight, know knowledge, want "
    "like, want prefer, slight slightly little bit, turn switch, address call, send get receive, share together, both "
    "all, postpone delay defer, cancel annul, return back, collect pick, exercise sport train gym, birthday birth "
    "born, stressful stressed, bugfix fix, schedule timetable calendar, due ready finish submit, run own operate, run "
    "begin, run last, host keep store, talk communicate, bump increase raise, decrease reduce lower, direct directly "
    "straight, short briefly shortly, fear angst fürchtet fürchten peur miedo medo paura teme temer craint, cão cães "
    "cachorro, erlaubt gestattet, verboten untersagt, wichtig bedeutend, gewechselt umgestiegen, polite courteous "
    "politely, friendly kind, clean tidy, prohibit forbid ban, occasional sometimes, frequent often, cancel call-off, "
    "reach contact, reside based, sore painful hurt ache pain, headache migraine, cofounder founder, hobby pastime "
    "leisure, instrument musical, novel book, article paper, contract agreement, insurance coverage, coat jacket, cup "
    "mug, couch settee, flashlight torch, architecture architect, secure safe, compress zip, archive store, publish "
    "post upload, download fetch pull, push upload, trigger invoke, disable deactivate, enable activate, terminate "
    "kill stop shut, log print, upgrade update, duplicate copy, rename name, validate check verify, approve review, "
    "comment note remark, document describe, monitor watch observe track, latency delay, endpoint route, parameter "
    "argument, credentials login, dashboard panel, incident outage, customer user client, ticket issue, commute take, "
    "commute ride, commute travel go, limit allow cap maximum restrict, write implement code develop program, meal "
    "eat, attend go visit, memory ram, retire pension, resign quit leave, pregnant expecting, vegan plant-based, "
    "search look seek, graduate finish, contain include comprise, allowed permitted may, forbidden banned, notify "
    "alert, assign allocate, schedule arrange book reserve appointment, expensive costly pricey, cheap inexpensive "
    "affordable, tired exhausted, afternoon pm, wallet purse, vacation trip, password credential, logfile log, "
    "timezone time-zone, backend back-end, frontend front-end, auto wagen pkw, handy telefon, beruf job, kaufen "
    "erwerben, beginnen anfangen anfängt, enden aufhören, treffen besprechung meeting sitzung, frist deadline abgabe, "
    "réunion meeting rendez-vous, reunión meeting junta, reunião meeting, riunione meeting, ordinateur pc, computer "
    "pc, miedo temor, moglie sposa, marié femme épouse mari époux, casado esposa esposo mujer marido mulher, restart "
    "reboot, sposato moglie marito, verheiratet frau ehefrau mann ehemann, year yearly annual annually, nurse "
    "enfermero enfermera infirmier infermiere, nuotare swim nadar "
)


def _senses() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, members in enumerate(_CLASSES.split(",")):
        for word in members.split():
            forms = {word, stem(word), lexicon.NOUN_FORMS.get(word, word), lexicon.VERB_FORMS.get(word, word)}
            for form in forms:
                found.setdefault(form, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_SENSES = _senses()
_NONE: frozenset[int] = frozenset()


def are_synonyms(one: Token, other: Token) -> bool:
    """Tell whether two words can say the same."""
    return not _classes(one.key, one.word).isdisjoint(_classes(other.key, other.word))


@lru_cache(1_024)
def _classes(key: str, word: str) -> frozenset[int]:
    return _SENSES.get(key, _NONE).union(*(_SENSES.get(base, _NONE) for base in senses.bases(word)))
