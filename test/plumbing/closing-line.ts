import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Ends the output with a line that counts the passed and failed tests. Before it, lists the tests that passed
 * only at a second try.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    // A file that fails to load, or an error outside of any test, is a failure too.
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length
    const skipped = count('skipped')
    const tail = skipped > 0 ? `, ${skipped} skipped` : ''
    for (const test of tests.filter((each) => each.diagnostic()?.flaky)) process.stdout.write(describe(test))
    process.stdout.write(`\n${count('passed')} passed, ${count('failed') + broken} failed${tail}\n`)
  }
}

/**
 * Describes a flaky test. A test that fails now and then has found a race, in the test or in what it tests,
 * so it is named in order to be fixed.
 */
function describe(test: TestCase): string {
  const causes = test.result().errors?.map(({ message }) => message) ?? []
  return `\nFLAKY ${test.module.relativeModuleId} > ${test.fullName}\n  at first: ${causes.join('; ')}\n`
}
