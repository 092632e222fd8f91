#include "rt_resident.h"

#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 1100 }; /* more than are read at once */

static rt_resident pages;

static char *fresh_pages(void) {
    char *const range =
        mmap(NULL, PAGES * pages.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(range != MAP_FAILED);
    madvise(range, PAGES * pages.page_bytes, MADV_NOHUGEPAGE);
    return range;
}

static void only_written_pages_are_resident(void) {
    char *const range = fresh_pages();
    const size_t page = pages.page_bytes;
    CHECK_UINT(0, rt_resident_bytes(&pages, range, PAGES * page));
    range[3 * page] = 1;
    range[(PAGES - 1) * page] = 1;
    CHECK_UINT(2 * page, rt_resident_bytes(&pages, range, PAGES * page));
    CHECK_UINT(page, rt_resident_bytes(&pages, range, 4 * page));
    memset(range, 1, PAGES * page);
    CHECK_UINT(PAGES * page, rt_resident_bytes(&pages, range, PAGES * page));
    munmap(range, PAGES * page);
}

/* Two blocks in one page must not count it twice. */
static void a_page_counts_for_what_the_range_covers_of_it(void) {
    char *const range = fresh_pages();
    const size_t page = pages.page_bytes;
    memset(range, 1, 3 * page);
    CHECK_UINT(100, rt_resident_bytes(&pages, range + 10, 100));
    CHECK_UINT(page + 30, rt_resident_bytes(&pages, range + page - 10, page + 30));
    CHECK_UINT(10, rt_resident_bytes(&pages, range + 3 * page - 10, 50));
    CHECK_UINT(0, rt_resident_bytes(&pages, range, 0));
    munmap(range, PAGES * page);
    CHECK_UINT(0, rt_resident_bytes(&pages, range, page));
}

/* A page that was only read is the kernel's page of zeros: in nobody's RssAnon. */
static void a_page_that_was_only_read_does_not_count(void) {
    char *const range = fresh_pages();
    const volatile char *const reader = range;
    CHECK_UINT(0, reader[0]);
    if (pages.pagemap >= 0) {
        CHECK_UINT(0, rt_resident_bytes(&pages, range, pages.page_bytes));
    }
    munmap(range, PAGES * pages.page_bytes);
}

static void mincore_answers_where_there_is_no_pagemap(void) {
    rt_resident without = {.pagemap = -1, .page_bytes = pages.page_bytes};
    char *const range = fresh_pages();
    memset(range, 1, 600 * pages.page_bytes);
    CHECK_UINT(600 * pages.page_bytes, rt_resident_bytes(&without, range, PAGES * pages.page_bytes));
    munmap(range, PAGES * pages.page_bytes);
}

int main(void) {
    rt_resident_open(&pages);
    only_written_pages_are_resident();
    a_page_counts_for_what_the_range_covers_of_it();
    a_page_that_was_only_read_does_not_count();
    mincore_answers_where_there_is_no_pagemap();
    rt_resident_close(&pages);
    CHECK(pages.pagemap == -1);
    return check_done();
}
