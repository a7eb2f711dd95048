#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <CUnit/TestRun.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * CUnit with TAP on stdout, one program a file:
 *
 *	static void test_adds_up(void) { CU_ASSERT_EQUAL(1 + 1, 2); }
 *	UNIT_TESTS("math", {"adds up", test_adds_up})
 *
 * CUNIT_ONLY=text runs the tests whose name contains it.
 */
static int unit_nr;

static inline void unit_on_complete(const CU_pTest test, const CU_pSuite suite,
				    const CU_pFailureRecord failure)
{
	CU_pFailureRecord f;

	printf("%sok %d - %s: %s\n", failure ? "not " : "", ++unit_nr,
	       suite->pName, test->pName);
	for (f = failure; f; f = f->pNext)
		printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber,
		       f->strCondition);
	fflush(stdout);
}

static inline int unit_run(const char *suite_name, const CU_TestInfo *tests)
{
	const char *only = getenv("CUNIT_ONLY");
	CU_pSuite suite;
	unsigned int failed;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	suite = CU_add_suite(suite_name, NULL, NULL);
	for (; suite && tests->pName; tests++)
		if (!only || strstr(tests->pName, only))
			CU_add_test(suite, tests->pName, tests->pTestFunc);
	CU_set_test_complete_handler(unit_on_complete);
	CU_run_all_tests();
	failed = CU_get_number_of_tests_failed();
	CU_cleanup_registry();
	printf("1..%d\n", unit_nr);
	return failed || !unit_nr;
}

#define UNIT_TESTS(suite_name, ...)                                \
	int main(void)                                             \
	{                                                          \
		static const CU_TestInfo tests[] = {__VA_ARGS__,   \
						    {NULL, NULL}}; \
		return unit_run(suite_name, tests);                \
	}

#endif
