"""What the augmentation jobs are: their names, and the numbers that every peer uses.

A variant that a peer's script is started with is a job's name, or that and "/" and a kind of the peer.
"""

RANDOM_RESIZED_CROP, RESIZE_SHORTER, RAND_AUGMENT = "random_resized_crop", "resize_shorter", "rand_augment"

SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)  # of RandomResizedCrop: area, width / height
SHORTER = 256  # pixels of the shorter side, of which the middle 224 are kept
MEAN, DEVIATION = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)  # of ImageNet's red, green and blue
NUM_OPS, FACTOR = 2, 0.5  # of RandAugment
