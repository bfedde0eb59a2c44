import type { ColumnType } from 'kysely'

export type Instant = ColumnType<Date, Date | string, Date | string>
export type MaybeInstant = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
export type Made = ColumnType<Date, Date | string | undefined, never>
export type Json<T> = ColumnType<T, string | undefined, string>
export type MaybeJson<T> = ColumnType<T | null, string | null | undefined, string | null>
