static int own_list;

void spec_add(int value) { own_list |= 1 << value; }

int spec_get(void) { return own_list; }
