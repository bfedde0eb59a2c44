/** The key of a sheet in the store. Every statement names the organisation. */
export type SheetKey = { org_id: string; sheet_id: string }
