import type { Reporter, TestModule } from 'vitest/node'

/** Ends the output with the line that says how many tests passed and failed. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    // A file that fails to load, or an error outside of any test, is a failure too.
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length
    const skipped = count('skipped')
    const tail = skipped > 0 ? `, ${skipped} skipped` : ''
    process.stdout.write(`\n${count('passed')} passed, ${count('failed') + broken} failed${tail}\n`)
  }
}
