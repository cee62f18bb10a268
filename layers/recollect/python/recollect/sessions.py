"""Which rows were said one after the other: rows of one session in the order in which they happened.

Arrays in, arrays out.
"""

import numpy as np
import numpy.typing as npt

from recollect.scan import Rows

_ALONE = -1


class Sessions:
    """The order of rows within their sessions.

    Parameters
    ----------
    row_count : int
        All rows, those that are in no session included.
    rows : ndarray of shape (n,), int64
        Those that are in a session, each once.
    sessions : ndarray of shape (n,), int64
        Number of each one's session.
    happened_at, seq : ndarray of shape (n,), int64
        When each one happened, and what tells those apart that happened at one time.
    """

    def __init__(
        self,
        row_count: int,
        rows: Rows,
        sessions: npt.NDArray[np.int64],
        happened_at: npt.NDArray[np.int64],
        seq: npt.NDArray[np.int64],
    ) -> None:
        order = np.lexsort((seq, happened_at, sessions))
        self._rows = rows[order].astype(np.int32)
        self._sessions = sessions[order].astype(np.int32)
        self._places = np.full(row_count, _ALONE, dtype=np.int32)
        self._places[self._rows] = np.arange(rows.size, dtype=np.int32)

    def around(self, rows: Rows, reach: int) -> npt.NDArray[np.int32]:
        """Name the rows that come up to `reach` before and after some rows in their session.

        Returns
        -------
        ndarray of shape (2 * reach, len(rows)), int32
            -1 where there is none.
        """
        if not self._rows.size:
            return np.full((2 * reach, rows.size), _ALONE, dtype=np.int32)
        places = self._places[rows]
        sessions = self._sessions[places]
        found = []
        for step in (step for away in range(1, reach + 1) for step in (-away, away)):
            there = places + step
            is_place = (places != _ALONE) & (there >= 0) & (there < self._rows.size)
            there = np.where(is_place, there, 0)
            found.append(np.where(is_place & (self._sessions[there] == sessions), self._rows[there], _ALONE))
        return np.stack(found)
