import type { CreditTables } from '../tables/credit-tables.ts'
import type { FileTables } from '../tables/file-tables.ts'
import type { OrganisationTables } from '../tables/organisation-tables.ts'
import type { RunTables } from '../tables/run-tables.ts'
import type { SheetTables } from '../tables/sheet-tables.ts'
import type { SourceTables } from '../tables/source-tables.ts'

/** All tables, as the types of queries. */
export type Schema = OrganisationTables & CreditTables & SheetTables & RunTables & FileTables & SourceTables
