"""Tiles fit the processor's registers; the kernels are right with those of an AVX2 processor too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dtnn.kernels import tile_sizes

ROOT = Path(__file__).parents[2]
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+f16c,+bmi,+bmi2", "NUMBA_NUM_THREADS": "2"}
# Tests against plain references, on small shapes: between them all kinds of kernels, and most of these on two threads too.
TESTS = """
tests/kernels/test_conv_direct.py::test_random_shapes[2]
tests/kernels/test_conv_direct.py::test_random_shapes[7]
tests/kernels/test_conv_direct.py::test_few_channels_with_full_vectors_are_read_where_they_lie[0]
tests/kernels/test_conv_direct.py::test_tiny_images_are_done_pixel_by_pixel[0]
tests/kernels/test_conv_direct.py::test_tiny_images_are_done_pixel_by_pixel[1]
tests/kernels/test_conv_direct.py::test_few_images[0]
tests/kernels/test_conv_direct.py::test_few_images[1]
tests/kernels/test_conv_direct.py::test_many_channels_on_small_images[0]
tests/kernels/test_conv_direct.py::test_one_pixel_is_a_product
tests/kernels/test_conv_direct.py::test_nan_reaches_the_output_and_relu_keeps_it
tests/kernels/test_conv_winograd.py::test_random_shapes[0]
tests/kernels/test_conv_winograd.py::test_random_shapes[1]
tests/kernels/test_conv_winograd.py::test_few_tiles_and_many_filters[0]
tests/kernels/test_conv_winograd.py::test_few_tiles_and_many_filters[1]
tests/kernels/test_conv_winograd.py::test_empty_batch_and_nan
tests/kernels/test_conv_depthwise.py::test_against_the_plain_loops
tests/kernels/test_pooling.py
tests/kernels/test_dense.py::test_products[1]
tests/kernels/test_dense.py::test_products[17]
tests/kernels/test_dense.py::test_products[33]
tests/kernels/test_dropout.py
tests/kernels/test_gather.py
tests/kernels/test_losses.py
tests/kernels/test_random.py
tests/kernels/test_turn_tile.py
tests/kernels/test_updates.py
tests/kernels/test_parts.py::test_fifty_steps_on_two_threads_are_equal
tests/optim/test_optimizers.py::test_float32_is_close_and_stays_float32
tests/nn/test_activations.py
tests/nn/test_batch_norm.py::test_a_mean_far_from_zero_loses_nothing
tests/nn_conformance/test_conformance.py::test_float32_agrees_with_float64_and_stays_float32
"""
# What must have run, by the name of its kernel (the two-thread form ends with _on_threads).
KINDS = """
conv_direct.product direct_gradient.gradient conv_pixels.pixels conv_pixels.pixels_on_threads conv_flat.flat
conv_flat.flat_gradient conv_channels.turn_pixels conv_channels.add_taps conv_depthwise.depthwise conv_depthwise.depthwise_data
conv_depthwise.depthwise_filters conv_winograd.winograd conv_winograd.winograd_on_threads winograd_gradient.winograd_gradient
winograd_gradient.winograd_gradient_on_threads winograd_few.winograd_few winograd_few.winograd_few_on_threads
winograd_few.winograd_few_gradient winograd_few.winograd_few_gradient_on_threads dense.dense dense.dense_on_threads
pooling.max_pool pooling.max_pool_gradient normalization.batch_norm normalization.batch_norm_gradient
updates.sgd_momentum updates.adam_pass gather.pick dropout.drop softmax.softmax layer_norm.layer_norm
"""
CHECK = """
import sys
import pytest
from dtnn.kernels import tile_sizes
from dtnn.kernels.cache import Disk

assert tile_sizes.registers() == 8
used, find = set(), Disk.load_overload
Disk.load_overload = lambda disk, *signature: (used.add(disk.name), find(disk, *signature))[1]
code = pytest.main(["-q", "-x", "-m", "", "-p", "no:cacheprovider", *sys.argv[1:]])
print("used:", *sorted(used))
sys.exit(code)
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


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="forces the features of an x86 processor")
@pytest.mark.slow
@pytest.mark.limit(600)
def test_all_kinds_of_kernels_on_an_avx2_processor():
    """The other tests of kernels, in a process that believes to run on one."""
    environment = os.environ | AVX2 | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHECK, *TESTS.split()]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stdout + done.stderr
    used = done.stdout.rpartition("used:")[2].split()
    missing = set(KINDS.split()) - set(used)
    assert not missing, f"these did not run: {sorted(missing)}"
