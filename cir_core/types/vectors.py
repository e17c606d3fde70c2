"""Array types of vectors and feature matrices."""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]  # [dim], unit length
Matrix = npt.NDArray[np.float32]  # [n, dim], unit rows
