import { FENCED, fencedItems } from './fence.ts'

/** Notes, before suspects are run, how many of them are run together. */
export const MARK_TESTED = `
update flights f set tested_in = i.size
from ${fencedItems(', size int')}
where ${FENCED}
returning i.n`
