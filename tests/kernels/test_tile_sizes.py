"""Tiles fit the processor's registers; the kernels are right with those of an AVX2 processor too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dtnn.kernels import tile_sizes

ROOT = Path(__file__).parents[2]
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+f16c,+bmi,+bmi2"}
CHECK = """
import numpy as np
from dtnn.kernels import conv_winograd, dense, pooling, tile_sizes
from dtnn.kernels.conv_plan import Window
from tests.kernels.test_conv_direct import check
from tests.kernels.test_dense import test_products
assert tile_sizes.registers() == 8
for count, relu in ((7, True), (33, False)):
    check(np.random.default_rng(0), 5, 8, 9, count, 7, (3, 3), Window((1, 2), (1, 0)), relu)
test_products(17)
print("right")
"""


def test_a_step_of_a_tile_fits_the_registers():
    for rows in range(1, 40):
        for columns in (1, 2, 3, 7, 30):
            for gradient in (False, True):
                R, V = tile_sizes.choose_tile(rows, columns, gradient=gradient)
                assert 1 <= R <= rows
                assert 1 <= V <= columns
                limit = tile_sizes.registers()
                assert (R + 1) * (V + 1) <= 32 if limit == 32 else R * V + V <= 8


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="forces the features of an x86 processor")
@pytest.mark.slow
def test_an_avx2_processor():
    environment = os.environ | AVX2 | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", CHECK], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=55)
    assert done.stdout == "right\n", done.stderr
