/** What names a sheet in the store: its organisation goes into every statement. */
export type SheetKey = { org_id: string; sheet_id: string }
