"""The demo's network: small enough that feeding it matters, also on two cores."""

import keras
from keras import layers


def build(shape: tuple[int, int, int], classes: int, steps: int, seed: int, width: int = 1) -> keras.Model:
    """A compiled CNN for pictures of this shape, whose learning rate falls to nothing over so many steps.

    With a width it has so many times the filters.
    """
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input(shape)])
    for filters, kernel, stride in ((16, 8, 8), (32, 3, 2), (64, 3, 2)):
        model.add(layers.Conv2D(width * filters, kernel, stride, padding="same", use_bias=False))
        model.add(layers.BatchNormalization(momentum=0.9))  # an epoch has few steps
        model.add(layers.ReLU())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(classes, activation="softmax"))
    model.compile(
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-3, steps)),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=False,
    )
    return model
