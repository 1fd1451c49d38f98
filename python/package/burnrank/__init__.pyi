from ._analysis import Certificate as Certificate
from ._analysis import Comparison as Comparison
from ._analysis import Evaluation as Evaluation
from ._analysis import Explanation as Explanation
from ._analysis import certify as certify
from ._analysis import compare as compare
from ._analysis import evaluate as evaluate
from ._analysis import explain as explain
from ._data import Letor as Letor
from ._data import read_letor as read_letor
from ._native import set_memory_limit as set_memory_limit
from ._ranker import BurnRanker as BurnRanker
from ._results import Epoch as Epoch

__version__: str
