"""Groups of words that stand for one word or another group, so that each thing is said in one way before it is read.

Pure. Works on words in order; a longer group goes before a shorter one.
"""

from collections.abc import Iterator, Sequence

from recollect.reconciling import dates, numbers

_IRREGULAR = {
    "find": "found",
    "give": "gave",
    "put": "put",
    "go": "went",
    "keep": "kept",
    "come": "came",
    "throw": "threw",
    "get": "got",
    "set": "set",
    "shut": "shut",
    "cut": "cut",
    "deal": "dealt",
    "take": "took",
    "make": "made",
    "run": "ran",
    "speak": "spoke",
    "wake": "woke",
    "reach": "reached",
    "carry": "carried",
    "step": "stepped",
    "stop": "stopped",
}


def _inflected(verb: str) -> tuple[str, str, str, str]:
    # turn, turns, turned, turning
    short = verb.removesuffix("e")
    past = _IRREGULAR.get(verb, f"{short}ed")
    last = short + short[-1] if short in {"put", "get", "set", "shut", "cut", "run"} else short
    return verb, f"{verb}es" if verb.endswith(("ch", "sh")) else f"{verb}s", past, f"{last}ing"


_TABLE = """
at the moment = now | por la mañana = por morning | por las mañanas = por morning | de manhã = in morning | at present = now | right now = now | from now on = now | as of now = now | these days = now
nowadays = now | for the time being = now | presently = now | in the meantime = now
zur zeit = jetzt | im moment = jetzt | ab sofort = jetzt | von jetzt an = jetzt | en ce moment = maintenant
en este momento = ahora | a partir de ahora = ahora | de ahora en adelante = ahora | hoy en día = ahora
neste momento = agora | de agora em diante = agora | in questo momento = adesso | d ora in poi = adesso
momentan = jetzt | derzeit = jetzt | zurzeit = jetzt | actualmente = ahora | atualmente = agora | attualmente = adesso
actuellement = maintenant
would rather = prefer | likes better = prefers | aime mieux = préfère | am liebsten = bevorzugt
is fond of = likes | is keen on = likes | is a fan of = likes | is a big fan of = likes | is into = likes
am fond of = like | am keen on = like | am a fan of = like | am a big fan of = like
can not stand = dislikes | can not bear = dislikes
with no = without | without sugar = unsweetened | ohne zucker = ungesüsst | sans sucre = unsweetened
sin azúcar = unsweetened | sem açúcar = unsweetened | senza zucchero = unsweetened
new york city = NYC | united states of america = USA | united states = USA | united kingdom = UK
los angeles = LA | san francisco = SF | pull request = PR | pull requests = PR | merge request = PR
merge requests = PR | prs = PR | continuous integration = CI | user interface = UI | operating system = OS
monday to friday = weekdays | monday through friday = weekdays | mondays to fridays = weekdays
every weekday = weekdays | each weekday = weekdays | on weekdays = weekdays
saturday and sunday = weekends | saturdays and sundays = weekends | on the weekend = weekends | on weekends = weekends
at the weekend = weekends | at weekends = weekends | every weekend = weekends
once = 1 times | thrice = 3 times | biweekly = every 2 weeks | fortnightly = every 2 weeks
every other week = every 2 weeks | every other day = every 2 days | half an hour = 30 minutes
a quarter of an hour = 15 minutes | an hour = 1 hour | a couple of = 2 | a pair of = 2
midnight = 0:00 | noon = 12:00 | midday = 12:00
year old = years | years old = years | years of age = years | jahre alt = jahre | anos de idade = anos
años de edad = años | ans d âge = ans | anni di età = anni
have to = must | has to = must | need to = must | needs to = must | ought to = should | is to be = must be
are to be = must be | must have = need | should have = need
takes place = is | take place = are | is taking place = is | took place = was | be held = be | is held = is
are held = are | be holding = be | findet statt = ist | se celebra = es | a lieu = est
in order to = to | so as to = to | as well as = and | as soon as = when | prior to = before | in case = if
each time = when | every time = when | whenever = when | because of = because | due to = because
ahead of = before | followed by = then | make sure to = please | be sure to = please | remember to = please
do not forget to = please | as well = also | at all = also | a lot of = many | lots of = many | plenty of = many
in charge of = lead | responsible for = handle | looks after = cares | takes care of = cares | take care of = care
for a living = also | the city of = the | the month of = the | cell phone = phone | mobile phone = phone
stand up = standup | set up = setup | log in = login | check out = checkout | checking out = checkout
get up = wake up | gets up = wakes up | eye doctor = optician | on foot = walking | free of charge = free
for free = free | software engineer = developer | software developer = developer
not any longer = no longer | any more = anymore | any longer = anymore
jeden tag = täglich | jede woche = wöchentlich | jeden monat = monatlich | chaque jour = quotidiennement
tous les jours = quotidiennement | todos los días = diariamente | cada día = diariamente | todos os dias = diariamente
todo dia = diariamente | ogni giorno = quotidianamente | tutti i giorni = quotidianamente | every year = yearly
each year = yearly | every month = monthly | each month = monthly | each week = weekly | every week = weekly
per week = weekly | per month = monthly | per year = yearly | every quarter = quarterly | each quarter = quarterly
email address = email | e mail = email | date of birth = birthday | at most = maximum | no more than = maximum
at least = minimum | a bit = slightly | as a rule = usually | most of the time = usually
from time to time = sometimes | now and then = sometimes | once in a while = sometimes | all the time = always
right away = immediately | at once = immediately | straight away = immediately | is interested in = likes | has an interest in = likes | have an interest in = like
is passionate about = loves | is going to = will | are going to = will | in the form of = as | in the form = as
part time = part-time | full time = full-time | geht über = dauert | di mattina = am | de la mañana = am
du matin = am | uhr morgens = am | uhr abends = pm | du soir = pm | de la tarde = pm | di sera = pm | da manhã = am
less than = under | fewer than = under | smaller than = under | shorter than = under | lower than = under
more than = over | larger than = over | bigger than = over | greater than = over | higher than = over | longer than = over
asked to = wants to | asks to = wants to | asked not to = wants not to | asks not to = wants not to | has asked to = wants to
has asked not to = wants not to | sign in = login | signing in = login | signs in = login | mother tongue = native language | goes out = is sent | go out = are sent
does not like = dislikes | do not like = dislike | aura lieu = est | si trova = è | se trouve = est
se encuentra = está | befindet sich = ist | is located = is | are located = are | is situated = is | is about to = will
is employed by = works for | am employed by = work for | is a parent of = has | is the parent of = has | is a father of = has | is the father of = has | is a mother of = has
is the mother of = has | ist vater von = hat | ist mutter von = hat | est père de = a | est mère de = a
es padre de = tiene | es madre de = tiene | é pai de = tem | é mãe de = tem | è padre di = ha | è madre di = ha
from home = remotely | home office = remotely | from the office = onsite | would like = want | been to = visited
was born = is born | were born = are born
built with = use | built using = use | built on = use | made with = use | implemented with = use
amazon web services = AWS | google cloud platform = GCP | google cloud = GCP | machine learning = ML
artificial intelligence = AI | virtual machine = VM | virtual machines = VM | command line = CLI
human resources = HR | quality assurance = QA | visual studio code = vscode | vs code = vscode
as soon as possible = asap | end of day = eod | european union = EU | san diego = SD | washington dc = DC
von beruf = als | por teléfono = phone | two factor authentication = 2FA | github actions = GHA
comes from = is from | come from = am from | originally from = from | is able to = can | are able to = can
by himself = alone | by herself = alone | by themselves = alone | by myself = alone
on his own = alone | on her own = alone | on their own = alone | on my own = alone | is capable of = can | is unable to = can not | is not able to = can not | in spite of = despite
on a daily basis = daily | on a weekly basis = weekly | on a monthly basis = monthly | every night = nightly
each night = nightly | every evening = evenings | each evening = evenings | every morning = mornings
each morning = mornings | every afternoon = afternoons | in the mornings = mornings | in the evenings = evenings
has stopped = no longer | have stopped = no longer | a arrêté de = no longer | ai arrêté de = no longer
dejó de = no longer | ha dejado de = no longer | parou de = no longer | deixou de = no longer
ha smesso di = no longer | hat aufgehört = no longer | is not anymore = no longer
"""
_PHRASAL = """
stay away from = avoid | look for = search | search for = search | find out = discover | give back = return | pick up = collect
turn on = enable | switch on = enable | turn off = disable | switch off = disable | put off = postpone
call off = cancel | carry out = perform | go on = continue | keep on = continue | come back = return
turn in = submit | fill in = complete | fill out = complete | throw away = discard | throw out = discard
get rid of = discard | save up = save | put aside = save | set aside = save | work out = exercise | sign up for = join
back up = backup | shut down = stop | start up = start | speed up = accelerate | slow down = slow | cut down on = reduce
cut back on = reduce | deal with = handle | look after = care | take care of = care | make use of = use
take part in = attend | participate in = attend | run out = expire | live at = live in | wake up = wake | get up = wake
care for = care | consist of = contain | is made of = contain | depend on = need | rely on = need | belong to = belong
talk to = talk with | speak to = talk with | reach out to = contact | get in touch with = contact | head up = lead
like best = prefer | like most = prefer | love most = prefer | step down as = no longer | resign as = no longer | retire as = no longer | stop being = no longer
"""


def _entries(table: str) -> Iterator[tuple[list[str], list[str]]]:
    for entry in table.replace("\n", "|").split("|"):
        phrase, _, said = entry.partition("=")
        if phrase.strip():
            yield phrase.split(), said.split()


def _phrases() -> dict[tuple[str, ...], tuple[str, ...]]:
    found = {tuple(phrase): tuple(said) for phrase, said in _entries(_TABLE)}
    for (verb, *rest), (said, *more) in _entries(_PHRASAL):
        others = [said] * 4 if said == "no" else _inflected(said)
        found |= {(form, *rest): (other, *more) for form, other in zip(_inflected(verb), others, strict=True)}
    return found


_PHRASES = _phrases()
_LENGTHS: dict[str, tuple[int, ...]] = {
    first: tuple(sorted({len(phrase) for phrase in _PHRASES if phrase[0] == first}, reverse=True))
    for first in {phrase[0] for phrase in _PHRASES}
}


def fold(written: Sequence[str]) -> list[str]:
    """Put one way of saying a thing for every way that the table knows.

    Examples
    --------
    >>> fold(["She", "would", "rather", "start", "at", "half", "past", "nine"])
    ['She', 'prefer', 'start', 'at', '9:30']
    """
    words = [word.casefold() for word in written]
    found: list[str] = []
    index = 0
    while index < len(words):
        length, said = _phrase(words, index) or dates.spoken_clock(words, index) or numbers.compound(words, index)
        found += said if length else [written[index]]
        index += length or 1
    return found


def _phrase(words: Sequence[str], index: int) -> tuple[int, tuple[str, ...]] | None:
    for length in _LENGTHS.get(words[index], ()):
        said = _PHRASES.get(tuple(words[index : index + length]))
        if said is not None:
            return length, said
    return None
