import type { SheetAccess } from '../../catalog/define.ts'
import type { Store } from '../../database/connection/db.ts'
import { deleteRows } from '../../sheets/store/rows.ts'
import type { ActingFlight, StatementWatch } from './acting-flight.ts'
import type { SendRows } from './sheet-sends.ts'
import type { LookUp } from './sheet-walk.ts'
import type { ReachTarget } from './target-sheet.ts'
import type { JudgeUnique } from './uniqueness.ts'

type Call = { signal: AbortSignal; database: StatementWatch }
type Lent = Call & { judgeUnique: JudgeUnique; sendRows: SendRows; lookUp: LookUp; reachTarget: ReachTarget }

/** Gives an action access to rows on behalf of the cell it runs for. */
export function createSheetAccess(
  store: Store,
  flight: ActingFlight,
  { signal, database, judgeUnique, sendRows, lookUp, reachTarget }: Lent,
): SheetAccess {
  const { facts, row, position } = flight
  const db = store.org(facts.org_id)
  return {
    append: (sheetId, rows) => database.watch(sendRows(flight, sheetId, rows)),
    async lookup(query) {
      const asked = { facts, action: position.action, sheetId: query.targetSheetId }
      const found = await database.watch(reachTarget(asked))
      return found.ok ? lookUp(found.value, query, { signal, database }) : found
    },
    judgeUnique: (values) => database.watch(judgeUnique(flight, values)),
    async deleteThisRow() {
      await database.watch(db.transaction().execute((trx) => deleteRows(trx, facts, [row.id])))
    },
  }
}
