"""The studies: one package each, with the same rooms: data, study, scores, tables, printed, rows, labels."""
