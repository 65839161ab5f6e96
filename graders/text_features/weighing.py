"""Fits a TfIdf to some counts, and weighs others with it: the reference's class and the student's."""

from reference import text_features as ref


def weighed(fitted, counts):
    """Return what the reference makes of counts, once it has been fitted."""
    tf_idf = ref.TfIdf()
    tf_idf.fit(fitted)
    return tf_idf.transform(counts)


def own_weighed(student):
    """Return `weighed` with the student's class."""

    def weighed_by_student(fitted, counts):
        tf_idf = student.TfIdf()
        tf_idf.fit(fitted)
        return tf_idf.transform(counts)

    return weighed_by_student
