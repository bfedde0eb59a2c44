import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long for their size, with roughly their seconds. Other files are weighed by their size. */
export const LONG_FILES: Readonly<Record<string, number>> = {
  'test/faults/small-strangers.test.ts': 80,
  'test/faults/small-kills.test.ts': 75,
  'test/faults/small-load.test.ts': 70,
  'test/faults/small-database.test.ts': 65,
  'test/browser/screens.test.ts': 60,
  'test/browser/sheet-edits.test.ts': 40,
  'test/browser/dashboard.test.ts': 30,
  'server/src/runs/engine/recovery.test.ts': 40,
  'server/src/api/http/wide-bodies.test.ts': 40,
  'test/faults/small-ends.test.ts': 40,
  'cli/commands/backup.test.ts': 35,
  'test/guards/start.test.ts': 35,
  'test/guards/docs-commands.test.ts': 50,
  'server/src/sheets/routes/actions/catalogue.test.ts': 30,
  'server/src/runs/engine/flights/simulation.test.ts': 35,
  'server/src/lib/json/bounded-json.test.ts': 30,
  'server/src/sheets/routes/rows/row-statistics.test.ts': 30,
  'server/src/database/embedded/embedded.test.ts': 20,
  'server/src/api/http/isolation.test.ts': 18,
  'server/src/files/imports/import-recovery.test.ts': 18,
  'test/guards/fetchers.test.ts': 8,
  'server/src/catalog/built-in/web/browser/browser.test.ts': 35,
  'server/src/catalog/built-in/web/browser/reach.test.ts': 25,
  'cli/process.test.ts': 5,
  'server/src/database/connection/statement-names.test.ts': 5,
}

/** Starts with the longest files, so that no worker is left alone with one at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files)
    const secondsOf = ({ moduleId }: TestSpecification) =>
      LONG_FILES[relative(this.ctx.config.root, moduleId)] ?? 0
    return bySize.toSorted((a, b) => secondsOf(b) - secondsOf(a))
  }
}
