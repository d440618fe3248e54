"""The simulator's exam: bugs are planted into the product, one at a time, and each must be caught."""
