// A section of a reader.
#include <ck_epoch.h>

static ck_epoch_t epoch;
static ck_epoch_record_t record;

int main(void) {
  ck_epoch_init(&epoch);
  ck_epoch_register(&epoch, &record, 0);
  ck_epoch_begin(&record, 0);
  ck_epoch_end(&record, 0);
  return 0;
}
