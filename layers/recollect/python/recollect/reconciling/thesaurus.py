"""Words that say the same in ordinary talk, as classes: what paraphrases exchange.

Data only. Wider than the forms of ``lexicon``: the members of a class need not be interchangeable everywhere, but two
statements that are otherwise equal say the same with either. A word may be in several classes. Words of one kind that
exclude each other (colours, animals, foods, tools) never share one.
"""

from recollect.reconciling import lexicon
from recollect.text import stem

_CLASSES = (
    # doing and being
    "live reside dwell stay stays staying inhabit home residence, job profession occupation position role employ "
    "employed employment career, begin start commence launch launches launched kick kickoff initiate, end finish "
    "conclude terminate complete completes completed, buy purchase acquire bought, choose chose chosen pick select "
    "opt opted settle settled decide decided, prefer like favour favor favourite favorite fond enjoy love adore "
    "rather appreciate appreciates appreciated into keen fan disfruta disfrutar encantar gustar preferir "
    "bevorzugen aimer apprécie apprécier gern gerne liebsten, dislike hate detest loathe despise disliked, want "
    "wish desire möchte, lead manage managed head run ran oversee oversees oversaw supervise direct leitet leiten "
    "geleitet dirige dirigé dirigida dirigido dirigir diretto guida, need require must necessary necessity "
    "mandatory obligatory obligation requirement needs, use utilize utilise utilizar employ nutzen verwenden "
    "benutzen utiliser usar usare utilizzare utilizza utiliza execute invoke run exécuter exécute ejecutar ejecuta "
    "executar executa eseguire esegue ausführen launch lancer, make create produce prepare generate build built, "
    "fail break broke broken crash failure error, delete remove erase discard wipe, change alter modify edit "
    "adjust update amend, send mail ship deliver forward sent submit hand submitted, store save keep kept stored, "
    "get receive obtain got gotten, check verify inspect examine review ensure confirm, ask inquire request "
    "consult, tell inform notify notified told let know, talk speak chat spoke spoken discuss converse, meet met "
    "meeting gather gets gathering, visit travel trip journey travelled traveled, show display present exhibit "
    "shown, repair fix mend, watch view look see saw, help assist aid support assistance, explain clarify describe "
    "explanation, try attempt, avoid evade refrain, throw toss hurl, jump leap hop bounce, cut slice chop dice "
    "carve, put place lay insert placed laid putting, hold grip grasp held carry carried, wear dress dressed wore "
    "clad worn, cook prepare, close shut, grow raise grew, earn salary wage wages pay income makes, cost price fee "
    "charge pay amount kosten prix precio preço prezzo, weigh weight, tall height, last duration long takes take, "
    "study student learn major, teach teacher taught instruct instructor, coach train trainer, write author wrote "
    "written, drive car automobile vehicle auto drove, cycle bike bicycle biking ride fahrrad rad, walk stroll "
    "foot hike, run jog jogging ran, swim swimming swam, sit seat seated sat, sleep bed asleep slept, wake awake "
    "up woke rise, marry wedding wed spouse, bear born birth birthday geboren nacido nacida né née nascido nascida "
    "nato nata, die dead death deceased died passed, call phone telephone ring, approve approval accept sign allow "
    "permit permission authorize, merge combine, handle deal responsible charge care, own have possess has belong "
    "owns got owner, deploy deployment rollout roll ship release, install installation setup, test testing tests, "
    "record log logs logged, expire lapse expiry expiration, rest relax, train training practise practice exercise "
    "workout, travel trip journey voyage voyages voyager viajar viaje viagem viaggio viaggiare reise reisen trips, "
    "believe think find thinks finds consider found feel, wait await, rent lease, become turn go goes went get, "
    # things
    "home house place, flat apartment condo piso appartement wohnung appartamento apartamento, roommate flatmate "
    "housemate, child kid children kids offspring, mother mum mom mama, father dad papa, grandmother grandma "
    "granny nan, grandfather grandpa granddad, husband spouse, boy guy, woman lady, person someone somebody "
    "people, friend buddy pal mate, colleague coworker workmate, boss supervisor superior, company firm business "
    "employer organization organisation, developer engineer programmer coder dev, doctor physician, lawyer "
    "attorney, physiotherapist physio, vet veterinarian, optician optometrist, pharmacist chemist, teacher "
    "schoolteacher, customer client, movie film, song track, photo picture photograph image, sofa couch, fridge "
    "refrigerator, tv television, phone cellphone smartphone mobile handy, laptop notebook, shop store, garden "
    "yard, road street, rock stone, forest woods, ocean sea, meal food dish, dinner supper, sweet sweets candy, "
    "soda pop, medicine medication drug pill tablet, illness disease sickness, injury wound hurt injured, allergic "
    "allergy, intolerant intolerance, diabetic diabetes, asthma asthmatic, vegetarian veggie, fear afraid scared "
    "frightened terrified phobia fearful, answer reply response respond, introduction preamble intro, summary "
    "overview recap, problem issue trouble difficulty, bug defect, mistake error, task chore todo ticket, plan "
    "schedule planned scheduled intend intends planning geplant prévu previsto, deadline due cutoff, goal aim "
    "target objective, idea concept, part portion piece section, team group squad crew, area region district zone "
    "neighbourhood neighborhood, repo repository, folder directory, flag option switch parameter, setting "
    "configuration config configure, password passphrase passcode, documentation docs manual, environment env, "
    "database db datenbank, app application, website site webpage, server host machine box, kubernetes k8s, "
    "postgresql postgres, javascript js, typescript ts, golang go, pr prs, ui interface, production prod live, "
    "staging stage, specification spec, library package lib, function method routine, release veröffentlichung "
    "version lancement publicación lançamento rilascio publication, invoice bill receipt rechnung facture factura "
    "fatura fattura, report write-up bericht, email mail e-mail, message text note, newsletter mailing, holiday "
    "vacation leave urlaub, luggage baggage, subway metro underground tube, plane aeroplane airplane aircraft, "
    "truck lorry, gas petrol, autumn fall, soccer football, trousers pants, trainers sneakers, glasses spectacles, "
    "waste rubbish garbage trash, elevator lift, postcode zip, university college uni, degree diploma, exam test "
    "examination, course class lesson, gym fitness, language tongue, "
    # how things are
    "big large huge great enormous, small little tiny, young little, gun pistol, marry husband, marry wife, long "
    "lengthy extended, short brief concise succinct terse, quick fast rapid speedy quickly swiftly, easy simple "
    "straightforward, hard difficult tough challenging, important crucial essential vital key, main primary "
    "principal chief, whole entire complete full, new fresh brand, clever smart intelligent, ill sick unwell, "
    "happy glad pleased content, angry mad furious, quiet silent, loud noisy, correct right accurate, wrong "
    "incorrect false, empty vacant blank, grey gray, spicy hot, unsweetened sugarless sugar-free ungesüsst "
    "ungesüßt sugarfree, formal formally, beautiful pretty lovely, often frequently regularly, sometimes "
    "occasionally, usually normally typically generally mostly, together jointly, alone solo, too also, near "
    "nearby close, remote remotely, severe severely serious seriously strong strongly, fluent fluently speak speaks spoken, "
    "approximately about around roughly, only solely exclusively just, immediately right directly instantly, again "
    "anew, daily everyday, maximum max most, minimum min least, "
    # other languages
    "like gosta mag, kaufen gekauft kauft, nurse enfermero enfermera, sprechen reden, klein kleine, antworten "
    "antwort, coche carro automóvil, voiture auto bagnole, macchina auto automobile, carro automóvel, piso "
    "apartamento, trabajar trabajo, ordenador computadora, niño hijo, enfant gosse, comenzar empezar, terminar "
    "acabar, acheter achète, logement appartement, boulot travail emploi, médecin docteur, médico doctor, medico "
    "dottore, arzt ärztin, aktualisieren aktualisiert, löschen entfernen, ordner verzeichnis, carpeta directorio, "
    "dossier répertoire, "
    # forms that endings do not tell
    "eat ate eaten, ride rode ridden, drink drank drunk, drive drove driven, write wrote written, take took taken, "
    "give gave given, go went gone, see saw seen, speak spoke spoken, break broke broken, throw threw thrown, draw "
    "drew drawn, sing sang sung, swim swam swum, run ran, sit sat, feed fed, teach taught, catch caught, bring "
    "brought, think thought, sell sold, tell told, keep kept, leave left, lose lost, win won, pay paid payment, "
    "grow grew grown, fly flew flown flight, fall fell fallen, sleep slept, shoot shot, stand stood, hang hung, "
    "buy bought, forget forgot forgotten, hide hid hidden, steal stole stolen, wear wore worn, tear tore torn, "
    "spend spent, lend lent, send sent, bite bit bitten, choose chose chosen, do did done, know knew known "
    "knowledge, hold held, want like, want prefer, slight slightly little bit, turn switch, address call, send get "
    "receive, cost charge, share together, both all, max maximum most, postpone delay defer, cancel annul, "
    "discover find, return back, collect pick, continue keep, perform do, exercise sport train gym, birthday birth "
    "born, stressful stressed, bugfix fix, schedule timetable calendar, due ready finish submit, run own operate, "
    "run begin, run last, host keep store, talk communicate, bump increase raise, decrease reduce lower, direct "
    "directly straight, short brief briefly shortly, fear angst fürchtet fürchten peur miedo medo paura teme temer "
    "craint, cão cães cachorro cachorros, perro perros, chien chiens, gato gatos, erlaubt gestattet, verboten "
    "untersagt, wichtig bedeutend, gewechselt umgestiegen, polite courteous politely, friendly kind, clean tidy, "
    "assist support help, prohibit forbid ban, occasional sometimes, frequent often, cancel call-off, rapid "
    "rapidly, reach contact, reside based, father dad, sore painful hurt ache pain, headache migraine, assistant "
    "helper, cofounder founder, hobby pastime leisure, instrument musical, novel book, article paper, journal "
    "diary, contract agreement, insurance coverage, coat jacket, rug carpet, cup mug, attic loft, couch settee, "
    "pavement sidewalk, flashlight torch, biscuit cookie, chips fries, eggplant aubergine, zucchini courgette, "
    "cilantro coriander, prawn shrimp, maths mathematics, biology biologist, physics physicist, chemistry chemist, "
    "psychology psychologist, accounting accountant, journalism journalist, architecture architect, baker bakery, "
    "annual year, automatic automatically, manual manually, secure safe, encrypt encryption, compress zip, archive "
    "store, publish post upload, download fetch pull, push upload, trigger invoke, disable deactivate, enable "
    "activate, terminate kill stop shut, log print, upgrade update, duplicate copy, rename name, validate check "
    "verify, approve review, tag label, comment note remark, document describe, monitor watch observe track, "
    "latency delay, endpoint route, parameter argument, credentials login, dashboard panel, incident outage, "
    "customer user client, ticket issue, commute take, commute ride, commute travel go, limit allow cap maximum "
    "restrict, write implement code develop program, meal eat, attend go visit, memory ram, retire pension, resign "
    "quit leave left, pregnant expecting, vegan plant-based, pregnancy pregnant, diabetes diabetic, guitar "
    "guitarist, piano pianist, violin violinist, search look seek, arrive come, graduate finish graduated, contain "
    "include comprise, happen occur, allowed permitted may, forbidden prohibited banned, notify alert, assign "
    "allocate, schedule arrange book reserve appointment, responsible charge, bike cycle, expensive costly pricey, "
    "cheap inexpensive affordable, tired exhausted, afternoon pm, wallet purse, cellar basement, vacation trip, "
    "cosy cozy, theatre theater, centre center, organise organize, tyre tire, programme program, licence license, "
    "practise practice, metre meter, litre liter, dialog dialogue, cheque check, neighbour neighbor, behaviour "
    "behavior, flavour flavor, travelling traveling, information info, advertisement ad advert, kilo kilogram, "
    "password credential, secret secrets, logfile log, timezone time-zone, backend back-end, frontend front-end, "
    "wohnung appartement, hund hunde, auto wagen pkw, handy telefon, beruf job, kaufen erwerben, beginnen anfangen "
    "anfängt, enden aufhören, treffen besprechung meeting sitzung, frist deadline abgabe, voiture auto, réunion "
    "meeting rendez-vous, reunión meeting junta, reunião meeting, riunione meeting, ordinateur pc, computer pc, "
    "miedo temor, esposa mujer, marido esposo, mulher esposa, moglie sposa, femme épouse, mari époux, frau "
    "ehefrau, mann ehemann, marié mariée femme épouse mari époux, casado casada esposa esposo mujer marido mulher, "
    "restart reboot, sposato sposata moglie marito, verheiratet frau ehefrau mann ehemann, "
    # how often
    "night nightly, quarter quarterly, day daily everyday, week weekly, month monthly, year yearly annual "
    "annually, hour hourly, weekend weekends, "
    # other languages
    "nurse enfermero enfermera infirmier infermiere, disfrutar disfruta gustar encantar like, nuotare swim nadar, "
    "release veröffentlichung lancement publicación lançamento rilascio, "
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


def are_synonyms(one: str, other: str) -> bool:
    """Tell whether two keys of tokens can say the same."""
    return not _SENSES.get(one, _NONE).isdisjoint(_SENSES.get(other, _NONE))
