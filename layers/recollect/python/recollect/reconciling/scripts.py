"""Statements in Chinese and Japanese, which are written without spaces: one way of writing for what says the same.

Pure. There are no rules for these languages, so that only what becomes the same letters in the same order is one.
"""

import re

from recollect.reconciling.tokens import plain

_DIGITS = str.maketrans("一二三四五六七八九两兩〇", "123456789220")
_NUMERAL = re.compile(r"[一二三四五六七八九两兩〇](?=[匹只隻個个人歳岁年月日時时点點分回次本枚台冊杯名位号間间週周])")
_WAYS = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        (r"居住", "住"),
        (r"在([^，。、,]{1,8})住", r"住在\1"),
        (r"喜爱|喜愛|喜歡|爱(?=[吃喝看听玩读做打])", "喜欢"),
        (r"目前|当前|現在", "现在"),
        (r"星期|礼拜|禮拜", "周"),
        (r"每天|天天", "每日"),
        (r"母亲|媽媽", "妈妈"),
        (r"父亲|爸爸", "爸爸"),
        (r"妻子|太太", "老婆"),
        (r"丈夫", "老公"),
        (r"名叫|名字叫|名字是|叫做|叫作", "叫"),
        (r"上班|任职|就职", "工作"),
        (r"和|与|跟|及", "和"),
        (r"でいます|でおります", "でいる"),
        (r"ています|ておる", "ている"),
        (r"でした|であった", "だった"),
        (r"です|である", "だ"),
        (r"だ(?=$|[。、])", ""),
        (r"(?<=[べえけせてねめれげぜでみき])ます", "る"),
        (r"お母さん|母親", "母"),
        (r"お父さん|父親", "父"),
    )
)


def are_same(one: str, other: str) -> bool:
    """Tell whether two statements become the same letters.

    Examples
    --------
    >>> are_same("猫を二匹飼っている。", "猫を2匹飼っています。"), are_same("我吃肉", "我不吃肉")
    (True, False)
    """
    return not one.isascii() and _written(one) == _written(other)


def _written(text: str) -> str:
    unified = _NUMERAL.sub(lambda found: found[0].translate(_DIGITS), text)
    for pattern, said in _WAYS:
        unified = pattern.sub(said, unified)
    return plain(unified)
