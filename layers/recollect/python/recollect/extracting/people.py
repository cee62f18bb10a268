"""Words for relatives, friends and animals, as patterns. Data only."""

FAMILY = (
    r"(?:wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|mother|mom|mum|mommy|father|dad|parents?|sisters?"
    r"|brothers?|siblings?|sons?|daughters?|kids?|children|child|baby|toddler|twins|grand(?:mother|father|parents?|ma|pa"
    r"|mom|dad|son|daughter|kids|children)|aunt|uncle|cousins?|nieces?|nephews?|family|(?:mother|father|sister|brother)-in-law"
    r"|in-laws|step(?:mother|father|mom|dad|son|daughter|sister|brother)|ex-wife|ex-husband|ex)"
)
OTHERS = (
    r"(?:(?:room|flat|house|class|team)mates?|neighbou?rs?|(?:best )?friends?|colleagues?|co-?workers?|boss|manager|mentor"
    r"|teacher|coach|doctor|gp|dentist|therapist|landlord|landlady|assistant|co-?founder|lawyer|accountant)"
)
PETS = (
    r"(?:dogs?|cats?|pupp(?:y|ies)|pups?|kittens?|pets?|horses?|parrots?|rabbits?|hamsters?|guinea pigs?|turtles?|fish)"
)
NAME = r"(?-i:[A-Z])[\w'-]+"
PERSON = (
    r"(?:(?:older|younger|little|big|late|twin|eldest|youngest|oldest|best|new|old|only|\w+-year-old) )*"
    rf"(?:{FAMILY}|{PETS}|{OTHERS})\b"
    r"(?:,? (?-i:[A-Z])[\w'-]+,?)?"
)
