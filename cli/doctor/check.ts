/** The result of one check of `loam doctor`. `fix` is advice if something should be done. */
export type Check = { check: string; status: 'ok' | 'warn' | 'fail'; detail: string; fix?: string }

export function ok(check: string, detail: string): Check {
  return { check, status: 'ok', detail }
}

export function warn(check: string, detail: string, fix: string): Check {
  return { check, status: 'warn', detail, fix }
}

export function fail(check: string, detail: string, fix: string): Check {
  return { check, status: 'fail', detail, fix }
}
