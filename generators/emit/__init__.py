"""A Test in the languages of those who read it: litmus C11 and CBMC C."""
