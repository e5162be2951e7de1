static int own_items[16], own_count;

void spec_push_front(int value) { own_items[own_count++] = value; }

int spec_pop_front(void) { return own_count ? own_items[--own_count] : 0; }

int spec_peek_last(void) { return own_count ? own_items[0] : 0; }
