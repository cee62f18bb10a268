"""What in a clause is durable: patterns for statements that begin with "I", "my", "we", "our" or a project's noun.

Pure, and closed: a clause that no pattern knows is no fact. The first kind that fits counts. Clauses come from
``wording.plain``: no contractions, few fillers, bounded length.
"""

import re

from recollect.extracting.dates import names_time
from recollect.extracting.kinds import Kind
from recollect.extracting.people import FAMILY, NAME, OTHERS, PERSON, PETS

_ADV = (
    r"(?:(?:always|never|usually|often|mostly|normally|typically|rarely|seldom|sometimes|mainly|only|now|currently|recently"
    r"|already|officially|finally|strongly|much|both|all|still|no longer|even|just|really|definitely) )*"
)
_NOT = r"(?:do not |did not |no longer )?"
# What somebody likes must be named: no pronoun, nothing that only the conversation before explains.
_NAMED = (
    r"(?!(?:it|that|this|these|those|them|him|her|you|your|his|its|their|how|what|when|where|who|why|both|all|every|everything"
    r"|everyone|anything|something|one|ones|another|other|some|any|such|most of|each|there|here|to (?:see|hear|know|think"
    r"|say|be|believe|help|hear|check|try|do|join|go|come|talk|chat|learn|share|have)|seeing|hearing|being|having|knowing|sharing|feeling"
    r"|getting|giving|the (?!(?:sea|ocean|outdoors|mountains?|beach|rain|snow|sun|heat|cold|dark|countryside|city|piano|guitar"
    r"|violin|winter|summer|(?:smell|sound|taste|colou?r|feel) of|gym|theat(?:er|re)|opera|cinema)\b))\b)"
)
_TIMES = (
    r"\b(?:every|each|daily|weekly|monthly|twice|once|three times|\d+ times|on weekends|on weekdays|in the mornings?|in the evenings?"
    r"|at night|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|before (?:work|bed)|after work|most (?:days|mornings))\b"
)
_ILLNESS = (
    r"(?:asthma|diabetes|(?:type [12]|type-[12]) diabetes|epilepsy|adhd|autism|anxiety|depression|arthritis|migraines?|hypertension"
    r"|high blood pressure|celiac(?: disease)?|coeliac(?: disease)?|ibs|crohn's|cancer|insomnia|eczema|psoriasis|dyslexia|scoliosis"
    r"|tinnitus|hay fever|lactose intolerance|heart (?:condition|disease|problems)|chronic [\w ]{2,30}|thyroid [\w ]{2,20}"
    r"|allerg(?:y|ies)|an? [\w -]{2,30}(?:allergy|intolerance)|a pacemaker|a bad (?:back|knee)|ptsd|ocd|dementia|alzheimer's|gout)"
)
_CONDITION = (
    r"(?:(?:severely |highly |mildly |very |deathly )?(?:allergic to|intolerant (?:to|of)|lactose|gluten|diabetic|asthmatic"
    r"|epileptic|autistic|dyslexic|deaf|blind|colou?r-?blind|hard of hearing|pregnant|immunocompromised|hypertensive"
    r"|celiac|coeliac|near-?sighted|short-?sighted)\b)"
)
_DIET = r"(?:(?:an? |strict |mostly )*(?:vegan|vegetarian|pescatarian|pescetarian|teetotal|sober|halal|kosher|keto)\b)"
_TRAIT = (
    r"(?:(?:happily |recently |newly )?(?:married|divorced|engaged|widowed|retired|single|bilingual|trilingual|left-handed|right-handed"
    r"|transgender|trans|gay|lesbian|bisexual|non-?binary|queer|straight|jewish|muslim|christian|catholic|hindu|buddhist|atheist"
    r"|self-employed|freelance|unemployed|adopted|self-taught|based in)\b)"
)
_ROLE = r"(?!(?:bit|little|lot|tad|mess|huge|big|few|couple|bunch|fan|sucker|person|step|work in progress|true believer|while|hurry)\b)"
_VERB_LASTING = (
    r"(?:lives|works|teaches|studies|speaks|plays|owns|runs|prefers|likes|loves|hates|enjoys|drinks|eats|collects|uses|needs|wears|takes"
    r"|live|work|teach|study|speak|play|own|run|prefer|like|love|hate|enjoy|moved (?:to|from)|passed away|died|was born|were born"
    r"|was diagnosed|got married|got engaged|graduated|retired|goes to|attends|wants to be|can not (?:eat|drink|have|see|hear)"
    r"|do(?:es)? not (?:eat|drink|like|speak|drive|work|live)|used to (?:live|work|play|be))"
)
_PASSING = r"(?!(?:cold|flu|fever|headache|question|meeting|great|good|nice|bad|fun|lot|point|blast|hard|tough|long|way|chance|big day)\b)"
_APPOINTMENT = (
    r"(?:appointment|meeting|interview|exam|test|flight|trip|wedding|surgery|operation|checkup|check-up|concert|conference|deadline"
    r"|presentation|demo|reservation|class|lesson|game|match|race|marathon|tournament|party|gig|show|workshop|training|holiday|vacation"
    r"|visit|date|performance|competition|event|dinner|call|reunion|session|audition|exhibition|move)"
)
_THINGS = (
    r"(?:project|app|application|api|back-?end|front-?end|database|db|repo|repository|services?|servers?|cluster|codebase|code"
    r"|tech stack|stack|ci|pipeline|team|company|startup|product|website|site|deadline|release|launch|demo|sprint|stand-?up|budget"
    r"|staging|production|deployment|milestone|client|customers?|tests?|branch(?:es)?|wiki|docs|documentation|domain|office"
    r"|infrastructure|infra|queue|cache|warehouse|dashboard|go-live|kick-?off|retro|review|code style|style guide|convention)"
)
_TECHNICAL = (
    rf"\b(?:{_THINGS}|deploy\w*|data|schema|python|java|rust|go|typescript|javascript|react|postgres\w*|mysql|sqlite|redis|kafka|aws|azure"
    r"|gcp|lambda|dynamodb|s3|terraform|docker|kubernetes|k8s|git|github|gitlab|jenkins|actions|pytest|linux|monorepo|microservices?|sdk"
    r"|feature|bugs?|tabs|spaces|code|merge|rebase|squash|commits?|versions?|frameworks?|library|libraries|logs?|logging|auth\w*|oauth|sso|kanban|scrum"
    r"|jira|linear|slack|figma|stripe|vendor|suppliers?|contract|roadmap|users|pricing|graphql|rest|grpc|django|flask|fastapi|node|vue|svelte)\b"
)
_VALUE = (
    r"(?:is|are|was|were|will be) (?:now |currently |still |always )?(?:(?:on|in|at|by|due|set|scheduled|planned|moved|postponed|pushed|built"
    r"|written|hosted|called|named|based|deployed|located|owned|maintained|managed|limited|capped|run by)\b|(?-i:[A-Z])|[0-9\"`€$£]"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|an? (?!(?:bit|mess|disaster|nightmare|lot|little|pain|joke|huge|big|great|good|total|complete|real|success|hit|blast)\b)[\w-]+)"
    r"|(?:uses|use|runs?|run on|starts|ends|ships|lives? (?:in|on|at)|targets|requires|needs|supports|depends on|consists of|deploys?"
    r"|has (?:\d|two|three|four|five|six|seven|eight|nine|ten)|(?:has )?moved (?:to|from)|migrated|switched) "
)
_GO = (
    r"(?:know|see|ask|make|say|thank|share|show|tell|hear|help|hug|cry|do|try|check|understand|give|be|let|keep|look|think|take a look"
    r"|get back|have a look|believe|add|point|mention|talk|chat|catch|discuss|feel|remind|continue|support|stay|miss|love|enjoy|need|use|go with|remember|forget|never|always|cherish|treasure|find|figure|post|send|call|text|bring)\b"
)

_IDENTITY = Kind(("identity",), 0.8)
_HEALTH = Kind(("health", "identity"), 0.9)
_HOME = Kind(("home", "identity"), 0.8)
_WORK = Kind(("work", "identity"), 0.8)
_FAMILY = Kind(("family",), 0.7)
_PEOPLE = Kind(("people",), 0.6)
_SKILL = Kind(("skill",), 0.6)
_PREFERENCE = Kind(("preference",), 0.7)
_HABIT = Kind(("habit",), 0.5)
_PET = Kind(("pet",), 0.6)
_OWNS = Kind(("possession",), 0.5)
_PLAN = Kind(("plan",), 0.6)
_DATED_PLAN = Kind(("plan",), 0.6, needs_time=True)
_DECISION = Kind(("decision",), 0.7)
_TEAM_DECISION = Kind(("decision", "project"), 0.7, team=True)
_PROJECT = Kind(("project",), 0.6, team=True)

_TABLE: tuple[tuple[Kind, str], ...] = (
    # decisions
    (_TEAM_DECISION, rf"(?=.*{_TECHNICAL})(?:let us|we will|we are going to) (?:go with|use|stick with|stick to|switch to|settle on|keep using|adopt|standardi[sz]e on) {_NAMED}\w"),
    (_TEAM_DECISION, rf"(?=.*{_TECHNICAL})(?:we|the team) (?:have )?(?:decided|agreed|opted|voted|settled on|chose|picked|went with|are switching|switched (?:from|to)|moved from|migrated) (?!that one\b|it\b|this\b|them\b)\w"),
    (_DECISION, rf"(?:let us|we will|we are going to) (?:go with|stick with|stick to|switch to|settle on) {_NAMED}\w"),
    (_DECISION, rf"(?:I|we) (?:have )?{_ADV}(?:decided|agreed|chose|opted|settled on|am switching to|switched (?:from|to)|am going with|will go with|made the decision|made up my mind) (?!it\b|this\b|that one\b|them\b)\w"),
    (_TEAM_DECISION, r"(?:the|our) decision is (?!yours|up to)\w"),
    # what lies ahead
    (_DATED_PLAN, rf"(?:(?:I|we)|my {PERSON}) (?:am|are|is) {_ADV}(?:flying|travell?ing|moving|visiting|starting (?!in\b|on\b)|leaving (?!in\b|on\b)|getting (?=married|an?|my|our|the|engaged|divorced)|taking|attending|running|hosting|launching"
     r"|having|meeting|seeing|joining|heading|driving|organi[sz]ing|opening|presenting|giving|speaking|going|releasing|shipping|competing|playing|performing|throwing|off to|due|back)(?:\b|(?<= ))"),
    (_PLAN, rf"(?:I|we) (?:am|are) {_ADV}(?:planning|hoping to|aiming|saving(?: up)? (?:for|to)|training for|applying (?:for|to)|looking to|expecting (?:a|our|my|twins)|going to (?!{_GO})"
     r"(?:move|start|marry|buy|learn|study|visit|travel|open|quit|launch|build|write|adopt|apply|join|run|take|switch|migrate|retire|have a baby))\b"),
    (_DATED_PLAN, rf"(?:I|we) (?:am|are) going to (?!{_GO})\w"),
    (_PLAN, rf"(?:I|we) {_ADV}(?:plan|intend|aim) (?:on|to) (?!{_GO})\w"),
    (_PLAN, rf"(?:I|we) {_ADV}(?:want|hope) to (?!{_GO})(?:become|learn|start|move|open|visit|travel|study|run|write|build|buy|lose|read|quit|improve|save|retire|adopt|create|publish|launch|win|finish|get (?:a|into|better|certified|married|my))\b"),
    (_DATED_PLAN, rf"(?:I|we) will {_ADV}(?!{_GO})\w"),
    (_DATED_PLAN, rf"(?:I|we) (?:need|have) to (?!{_GO})\w"),
    (_DATED_PLAN, rf"(?:I|we) have (?:an?|my|our|the|another) (?:[\w'-]+ ){{0,4}}?{_APPOINTMENT}\b"),
    (_PLAN, r"(?:I|we) (?:have )?(?:am |are )?(?:booked|signed up|registered|enrolled|reserved|scheduled)\b (?!it\b|that\b|this\b)\w"),
    (_DATED_PLAN, r"(?:my|our|the) (?:[\w'-]+ ){0,3}?(?:flight|appointment|exam|interview|wedding|trip|surgery|operation|train|due date|visa|lease|contract|passport|move|concert|tournament|thesis)"
     r"(?: (?:to|with|for|in|at|from) [\w' ]{2,40}?)? (?:is|leaves|starts|begins|departs|arrives|expires|ends|was (?:moved|rescheduled|postponed)|has been (?:moved|rescheduled|postponed))\b"),
    (_PLAN, r"(?:my|our) (?:[\w-]+ )?(?:goal|dream|plan|aim|ambition|resolution)s? (?:[\w ]{0,30}?)?(?:is|are) (?:to|a|an|about)\b"),
    # health and diet
    (_HEALTH, rf"I am {_ADV}(?:not )?{_CONDITION}"),
    (_HEALTH, rf"I am {_ADV}(?:not )?{_DIET}"),
    (_HEALTH, rf"I (?:have|have had|suffer from|live with|struggle with|got diagnosed with|was diagnosed with|have been diagnosed with|was born with) (?:been )?(?:severe |mild |bad |chronic |seasonal )?{_ILLNESS}\b"),
    (_HEALTH, rf"I (?:do not|no longer) have (?:any )?{_ILLNESS}\b"),
    (_HEALTH, r"I (?:was|have been|got) diagnosed with \w"),
    (_HEALTH, r"I (?:(?:can not|do not|no longer|never) (?:eat|drink|tolerate|digest|smoke|consume)|can not have) (?!(?:it|that|this|them|any more|much|enough|time|you|a|an|the|to|any (?:idea|plans|questions|issues?|problems?|time))\b)\w"),
    (_HEALTH, rf"I take (?!(?:it|that|this|a|an|the|my|care|pictures|photos|part|notes|breaks?|time|pride|walks|classes)\b)\w[\w -]{{2,60}}(?:for|{_TIMES})"),
    (_HEALTH, r"I (?:wear (?:glasses|contact lenses|a hearing aid|hearing aids|contacts)|use a wheelchair|quit (?:smoking|drinking)|stopped (?:smoking|drinking))\b"),
    (_HEALTH, r"my blood (?:type|group|pressure) is\b"),
    # who somebody is
    (_IDENTITY, r"my (?:full |first |last |middle |real |sur|nick)?name is (?!not\b)\w"),
    (_IDENTITY, r"my (?:birthday|date of birth|pronouns|nationality|native language|first language|mother tongue|zodiac sign|star sign|religion|timezone|time zone|height|weight|shoe size|age|anniversary|wedding anniversary"
     r"|email|e-mail|email address|phone number|phone|address|website|blog|(?:customer|account|membership|policy|insurance|passport|employee|badge) number|hometown|home town|username|handle|github) (?:is|are) (?!so\b|very\b|really\b|not\b|too\b)\w"),
    (_IDENTITY, r"(?:I (?:was|am) (?:born|raised)|I grew up|I come from|I am (?:originally )?from|I am called|I go by|people call me|everyone calls me|my friends call me) \w"),
    (_IDENTITY, rf"I am {_ADV}(?:not )?{_TRAIT}"),
    (_IDENTITY, r"I am (?:\d{1,3}|(?:eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:-\w+)?))(?: years old| years of age)?(?:$|,| and\b)"),
    (_IDENTITY, r"I am (?:half )?(?!(?:done|sorry|fine|good|great|ok|okay|back|in|at|not|so|very|sure|glad|happy|ready)\b)(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?(?:$|,| and\b| from\b| but\b)"),
    (_IDENTITY, r"I (?:speak|understand) (?:\w+ )?(?-i:[A-Z])\w+"),
    (_IDENTITY, r"I (?:just )?turned \d{1,3}\b"),
    (_IDENTITY, r"I am (?:a native \w+ speaker|fluent in \w)"),
    (_HOME, rf"(?:I|we) {_ADV}{_NOT}(?:live|lived|reside|have (?:been living|lived)|am living|are living|used to live|am based|are based|rent|am renting|are renting) (?:in|at|on|with|near|by|alone|together|here in|an?|out(?:side)? of|for) ?\w?"),
    (_HOME, r"(?:I|we) (?:have )?(?:recently |finally )?(?:moved|relocated) (?:(?:back |over )?(?:to|from|into|in with)) (?!it\b|that\b|this\b)\w"),
    (_HOME, r"(?:I|we) (?:own|bought|purchased|built) (?:a|an|our|my)(?: [\w-]+){0,3} (?:house|apartment|flat|home|condo|farm|cabin|place)\b"),
    # work and study
    (_WORK, rf"I {_ADV}(?:work|am working|have (?:been working|worked)|used to work|worked|am employed|intern|am interning|freelance) (?:at|for|as|in|with|from|part-time|full-time|remotely|nights|night shifts|shifts|freelance)\b(?! (?:it|that|this|them|you|a project|some|getting|making|my|new|both|all|someone|somebody|people|friends|kids|the same)\b)"),
    (_WORK, r"I (?:run|own|founded|co-founded|started|opened|have|launched|manage|lead|am running|am managing|am leading) (?:a|an|my|my own|the)(?: [\w'&-]+){0,4} (?:business|company|startup|agency|store|shop|studio|restaurant|bakery|team|department|practice|clinic|charity|nonprofit|firm|cafe|café)\b"),
    (_WORK, r"I (?:teach|study|am studying|major in|am majoring in|majored in|studied|graduated|am (?:doing|getting|pursuing|finishing) (?:a|my) (?:phd|degree|master's|masters|bachelor's|mba|thesis)) ?(?!it\b|that\b|this\b|hard\b|how\b|for the\b|them\b|you\b)\w*"),
    (_WORK, r"I (?:have )?(?:just |recently |finally )?(?:got|started|accepted|landed|have|left|quit|lost|was offered) (?:a|an|my|the)(?: [\w-]+){0,4} (?:job|position|role|internship|promotion|scholarship)\b"),
    (_WORK, r"I (?:got|was|have been) (?:promoted|hired|laid off|fired|accepted (?:to|into|at))\b"),
    (_WORK, r"my (?:new |current |old |dream )?(?:job|profession|occupation|employer|company|job title|title|role|team|major|salary) (?:is|are) (?!(?:like|so|very|really|super|not|great|going|pretty|killing|hard|stressful|demanding|amazing|always|being|in the|my)\b)\w"),
    (Kind(("identity",), 0.7), rf"I am (?:not )?(?:an?|the) {_ROLE}(?:(?!believer|fan|lover|mood|rush|place|hurry|position|way)[\w'-]+ ){{0,4}}?(?:\w*(?:er|or|ist|ian|ant|ent|eer|man|woman|mom|dad|mother|father|parent|nurse|doctor|chef|pilot|artist|athlete|coach|lead|head|ceo|cto|founder|veteran|nomad|student|citizen|owner|immigrant|refugee|twin|native|analyst|scientist|clerk|judge|vet|monk|feminist|introvert|extrovert|insomniac|minimalist|survivor|cook|guide|poet))\b(?! of (?:that|it|this))"),
    (_WORK, r"my (?:new |current |old )?(?:boss|manager|supervisor|team lead|mentor|assistant) is (?:now )?(?-i:[A-Z])"),
    # family, friends, animals
    (_FAMILY, r"(?:I|we) (?:have|have got|am expecting|are expecting|had|adopted) (?:(?:a|an|one|two|three|four|five|six|\d|no|twin|grown|small|young|little|older|younger|big|half|step|adult|teenage|\d+-year-old) ?)+(?:kids?|children|child|sons?|daughters?|sisters?|brothers?|siblings?|baby|bab(?:y|ies)|twins|boys?|girls?|grandchildren|grandkids|grandsons?|granddaughters?|nieces?|nephews?|family)\b"),
    (_PET, rf"(?:I|we) (?:have|have got|own|adopted|got|rescued|bought) (?:(?:a|an|one|two|three|four|five|six|\d+|no|new|my|our|another) )(?:[\w-]+ ){{0,3}}?{PETS}\b"),
    (_FAMILY, r"(?:I|we) (?:am|are|have been|got|was|were) (?:getting |going to be |happily )?(?:married|engaged|divorced|separated|widowed)\b"),
    (_FAMILY, r"I am (?:the )?(?:an? )?(?:(?:proud|single|new|only|eldest|youngest|oldest|middle|stay-at-home) )*(?:mother|father|mom|mum|dad|parent|child|grandmother|grandfather)\b"),
    # what somebody can do
    (_SKILL, r"I (?:know how to|can) (?:speak|play|code|program|cook|swim|drive|sew|read music|sail|ski|dance|bake|type|ride|fly)\b"),
    (_SKILL, r"I (?:am (?:not )?(?:good at|skilled (?:in|at)|experienced (?:in|with)|proficient (?:in|with)|certified|trained (?:in|as)|learning(?: how)?(?: to)?|new to|a beginner (?:in|with|at)|an expert (?:in|at|on))|have (?:\d+|two|three|four|five|six|seven|eight|nine|ten|many) years of|have been learning|am taking (?:\w+ )?(?:classes|lessons)|took up) (?!it\b|that\b|this\b|a lot\b|so much\b|more\b)\w"),
    (_SKILL, r"I (?:play|am playing|started playing|have been playing) (?:the )?(?:piano|guitar|violin|drums|cello|flute|clarinet|saxophone|bass|ukulele|trumpet|chess|tennis|football|soccer|basketball|golf|hockey|volleyball|badminton|rugby|cricket|baseball)\b"),
    # projects
    (_PROJECT, rf"(?:I|we) (?:am|are) {_ADV}(?:working on|building|developing|migrating|maintaining|rewriting|porting|designing|creating) (?:an?|the|our|my (?:own|new|next|first)|(?-i:[A-Z])[\w-]+) ?(?!lot\b|bunch\b)\w"),
    (_PROJECT, rf"(?:I|we) (?:am|are) {_ADV}(?:writing|working on) (?:an?|the|my|our)(?: [\w-]+){{0,3}} (?:book|novel|story|screenplay|script|thesis|dissertation|blog|article|paper|song|album|memoir|report|{_THINGS})\b"),
    (_PROJECT, rf"(?=.*{_TECHNICAL})we {_ADV}{_NOT}(?:use|run|deploy|host|store|write|support|ship|release|build|develop|maintain|require|target|follow|review|test|merge|rely on|are using|are on|are running) {_NAMED}\w"),
    (Kind(("tool",), 0.5), rf"I {_ADV}{_NOT}(?:use|am using|maintain|develop with|code in|program in|write|run) (?!(?:it|that|this|them|these|those|to|my|a lot|the same|more|about|your|down|in my|poems?|songs?|stories|for fun|late|into|out|around)\b)\w"),
    (_PROJECT, rf"(?:our|my) (?:[\w/-]+ ){{0,3}}?{_THINGS}(?: [\w/-]+)? (?:{_VALUE})"),
    (Kind(("project",), 0.6), rf"the (?:[\w/-]+ ){{0,2}}?{_THINGS} (?:for [\w ]{{2,30}} )?(?:{_VALUE})"),
    (_PROJECT, rf"we (?:have|hold|do|meet for) (?:an?|our|the) (?:[\w-]+ ){{0,2}}?(?:stand-?up|retro|retrospective|sync|review|planning|meeting|call|demo|one-on-one)s? .{{0,40}}?{_TIMES}"),
    # what somebody prefers, and does again and again
    (_PREFERENCE, rf"(?:I|we) {_ADV}{_NOT}{_ADV}(?:prefer|like|love|hate|enjoy|dislike|adore|detest|loathe|favou?r|avoid|can not stand|can not bear) {_NAMED}\w"),
    (_PREFERENCE, rf"I would (?:rather(?! wait| not| be| stay| go| do)|prefer|always choose) {_NAMED}\w"),
    (_PREFERENCE, rf"I (?:am|have (?:always )?been) {_ADV}(?:not )?(?:a |the )?(?:huge |big |great |massive |total |real |lifelong |much of a |morning |night |cat |dog |coffee |tea |people )?(?:fan of|person|owl|fond of|into|keen on|crazy about|obsessed with|passionate about|partial to|(?:afraid|scared|terrified) of|lover of|more of a|interested in) ?(?!it\b|that\b|this\b|them\b|you\b|your\b|how\b|what\b|hearing\b|seeing\b|who\b|helping\b|the idea\b)\w*"),
    (_PREFERENCE, r"(?:my|our) (?:(?:all-time|absolute|current|new) )?(?:favou?rite|preferred)\b[^?]{1,80}? (?:is|are|has always been|was always) (?!(?:it|that|this|these|those|when|how|definitely|so|the one)\b)\w"),
    (_PREFERENCE, r"(?:my|our) (?:[\w-]+ )?(?:preference|hobby|hobbies|passion|interests?|pet peeve) (?:is|are|include|includes) (?!it\b|that\b|this\b)\w"),
    (_HABIT, r"I (?:do not )?(?:usually|always|never|mostly|normally|typically|rarely|seldom|only) (?!(?:know|knew|think|thought|want|wanted|feel|felt|get|got|seem|forget|forgot|imagine|expect|realize|hear|heard|see|seen|had|been|dream|try|have|tried|say|said|wish|need|hope|be|am|believe|really|saw|met|did|went|love|\w+ed|make sure|find|look|look forward|remember|remind|wonder)\b)\w+ (?!it\b|that\b|this\b|them\b|you\b|him\b|her\b)\w"),
    (_HABIT, rf"I {_ADV}(?:wake up|get up|go to bed|go (?:running|swimming|hiking|for (?:a )?(?:run|runs|walks?)|to (?:the gym|church|yoga))|exercise|work out|run|jog|swim|commute|meditate|practi[sc]e|train|volunteer|attend|play|do yoga|have (?:breakfast|lunch|dinner|therapy)|drink|cook|bake|visit)\b.{{0,60}}?{_TIMES}"),
    (_HABIT, r"I (?:have )?(?:started|took up|began|been|am) (?:volunteering|taking (?:an? )?(?:[\w-]+ ){0,3}(?:class|classes|lessons|course)|doing (?:yoga|pilates|karate|judo|crossfit)|training)\b"),
    (_HABIT, r"I (?:volunteer|collect|commute|do (?:yoga|pilates|karate|judo|crossfit)) (?!it\b|that\b|you\b)\w"),
    (_OWNS, r"(?:my|our) (?:[\w-]+ )?(?:car|bike|bicycle|motorbike|laptop|phone|computer|pc|camera|guitar|piano|keyboard|monitor|boat|van) is (?:an? (?!bit|mess|little|lot|total)|(?-i:[A-Z]))\w*"),
    (_OWNS, r"(?:I|we) (?:drive|ride|own) (?:a|an) \w"),
)  # fmt: skip
_RULES = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TABLE)

_COUPLE = re.compile(rf"^(?:my {PERSON}|(?!I\b){NAME}) and I\b", re.IGNORECASE)  # says as much as "we"
_PERSON_STATES = re.compile(
    rf"(?:my|our) {PERSON}(?:"
    rf" (?:is|are|was|were) (?:not )?(?:{_CONDITION}|{_DIET}|{_TRAIT}|called|named|from|\d|an? {_ROLE}{_PASSING}\w|born|turning|expecting|living|studying|in (?:the )?(?:army|navy|college|university|high school|kindergarten|(?-i:[A-Z])))"
    rf"|'s (?:name|birthday|favou?rite [\w ]{{2,20}}|anniversary) (?:is|are) \w"
    rf"| (?:has|have) (?:{_ILLNESS}\b|(?:an?|two|three|four|five|\d) {_PASSING}\w)"
    rf"| {_ADV}{_VERB_LASTING}\b (?!it\b|that\b|this\b|them\b|you\b|him\b|her\b|how\b|what\b|when\b)\w"
    rf"| (?:passed away|died|retired|got married|got engaged|graduated|smokes|snores)\b)",
    re.IGNORECASE,
)
_IS_PERSON = re.compile(rf"(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)? is my {PERSON}\b", re.IGNORECASE)
_WHO = re.compile(rf"\b(?:(?P<family>{FAMILY})|(?P<pet>{PETS})|{OTHERS})\b", re.IGNORECASE)
_HEALTHY = re.compile(rf"\b(?:{_CONDITION}|{_ILLNESS}|diagnosed)\b", re.IGNORECASE)


def kind_of(clause: str) -> Kind | None:
    """Tell what kind of durable statement a clause makes; ``None`` if it makes none."""
    if _PERSON_STATES.match(clause) or _IS_PERSON.match(clause):
        return _of_person(clause)
    said = _COUPLE.sub("we", clause)
    for kind, pattern in _RULES:
        if pattern.match(said) and not (kind.needs_time and not names_time(clause)):
            return kind
    return None


def _of_person(clause: str) -> Kind:
    who = _WHO.search(clause)
    if who is not None and who["pet"]:
        return _PET
    kind = _FAMILY if who is not None and who["family"] else _PEOPLE
    return Kind((*kind.tags, "health"), 0.8) if _HEALTHY.search(clause) else kind
