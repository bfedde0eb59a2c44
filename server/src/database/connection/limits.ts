import { type RawBuilder, sql } from 'kysely'

/** What an organisation may have, as the installation is set up. Every connection carries it, as it does whom it speaks for. */
export type Limits = {
  rowsPerOrg: number
  storageMbPerOrg: number
  revisionsKept: number
  repushPerDay: number
}

const NAMES = {
  rowsPerOrg: 'loam.rows_per_org',
  storageMbPerOrg: 'loam.storage_mb_per_org',
  revisionsKept: 'loam.revisions_kept',
  repushPerDay: 'loam.repush_per_day',
} as const satisfies Record<keyof Limits, string>

export function limitsOf(config: {
  LOAM_ROWS_PER_ORG: number
  LOAM_STORAGE_MB_PER_ORG: number
  LOAM_REVISIONS_KEPT: number
  LOAM_SEGMENT_REPUSH_PER_DAY: number
}): Limits {
  return {
    rowsPerOrg: config.LOAM_ROWS_PER_ORG,
    storageMbPerOrg: config.LOAM_STORAGE_MB_PER_ORG,
    revisionsKept: config.LOAM_REVISIONS_KEPT,
    repushPerDay: config.LOAM_SEGMENT_REPUSH_PER_DAY,
  }
}

/** Options of a connection that carry them. */
export function limitOptions(limits: Limits): string {
  return Object.entries(NAMES)
    .map(([limit, name]) => `-c ${name}=${limits[limit as keyof Limits]}`)
    .join(' ')
}

/** A limit as an expression: null on a connection that carries none. */
export function limitSql(limit: keyof Limits): RawBuilder<number | null> {
  return sql`nullif(current_setting(${sql.lit(NAMES[limit])}, true), '')::bigint`
}
