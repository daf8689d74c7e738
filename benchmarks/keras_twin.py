"""TensorFlow's side: the Keras network that is the twin of a small dtnn model, and its compiled training step."""

import keras
import tensorflow

from dtnn import nn

NETS = "mlp", "simplecnn", "lenet5"


def tensorflow_step(model, x, y, rate, momentum):
    """A function that makes one step of TensorFlow on a fixed mini-batch, in its own layout, and returns its loss."""
    network, optimizer = twin(model), keras.optimizers.SGD(rate, momentum)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    images, labels = tensorflow.constant(x), tensorflow.constant(y)
    optimizer.build(network.trainable_variables)

    @tensorflow.function
    def update():
        with tensorflow.GradientTape() as tape:
            loss = loss_of(labels, network(images, training=True))
        optimizer.apply(tape.gradient(loss, network.trainable_variables))
        return loss

    return lambda: float(update())


def one_thread():
    """Before TensorFlow's first operation."""
    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)


def twin(model):
    """A `keras.Sequential` with the weights of a dtnn model; batches are (N, H, W, C)."""
    network, shapes = keras.Sequential([keras.Input(model.input_shape)]), [None, *model.net.shapes]
    for k, layer in enumerate(model.net.layers):
        made, image = layer_twin(layer), None
        network.add(made)
        if isinstance(layer, nn.Linear):
            before = model.net.layers[k - 1]
            image = shapes[k - 1] if isinstance(before, nn.Flatten) else None
        if layer_weights := weights(layer, image):
            made.set_weights(layer_weights)
    return network


def layer_twin(layer):
    """One layer."""
    if isinstance(layer, nn.Conv2d):
        padding = "same" if any(map(any, layer._margins)) else "valid"  # of an odd window whose image keeps its size
        return keras.layers.Conv2D(layer.channels, layer._size, layer._stride, padding)
    if isinstance(layer, nn.Linear):
        return keras.layers.Dense(layer.features)
    if isinstance(layer, nn.MaxPool2d):
        return keras.layers.MaxPooling2D(layer._size, layer._stride)
    if isinstance(layer, nn.Dropout):
        return keras.layers.Dropout(layer.rate)
    return {nn.Flatten: keras.layers.Flatten, nn.ReLU: keras.layers.ReLU}[type(layer)]()


def weights(layer, image):
    """What Keras wants to be set: its filters end with (in, out); a flattened image has its channels last."""
    if isinstance(layer, nn.Conv2d):
        return [layer.weight.value.transpose(2, 3, 1, 0), layer.bias.value]
    if isinstance(layer, nn.Linear):
        w = layer.weight.value
        if image:
            w = w.reshape(len(w), *image).transpose(0, 2, 3, 1).reshape(len(w), -1)
        return [w.T, layer.bias.value]
    return []
