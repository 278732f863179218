"""Files of labelled data and of test data in, their rows and texts out."""
