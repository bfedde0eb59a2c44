import type { CheckedRecord } from './record.ts'

type Fields = CheckedRecord['fields']

/** When something was said, as entities show it. `isExact` unless milliseconds are too coarse to tell times apart. */
export type Moment = { text: string; isExact: boolean }

const FINER = /\.\d{4}/

/** Prints what entities show. A batch has few sources, times and names, so that what was printed last is often wanted again. */
export type Printer = {
  moment(at: string): Moment
  /** The values of these fields, as a JSON object. */
  fields(fields: Fields): string
  /** Where the values of these fields come from, as a JSON object. */
  provenance(fields: Fields, source: string, at: string): string
}

export function createPrinter(): Printer {
  const names = new Map<string, string>()
  const printName = (name: string) => {
    const known = names.get(name)
    if (known !== undefined) return known
    const printed = `${JSON.stringify(name)}:`
    names.set(name, printed)
    return printed
  }
  let last: { at: string; moment: Moment } = { at: '', moment: { text: '', isExact: true } }
  const moment = (at: string) => {
    if (at !== last.at) last = { at, moment: { text: new Date(at).toISOString(), isExact: !FINER.test(at) } }
    return last.moment
  }
  let origin = { source: '', at: '', json: '' }
  const printOrigin = (source: string, at: string) => {
    if (source !== origin.source || at !== origin.at) {
      origin = { source, at, json: JSON.stringify({ source, at: moment(at).text }) }
    }
    return origin.json
  }
  return {
    moment,
    fields(fields) {
      let text = ''
      for (const { field, json } of fields) text += `${text === '' ? '' : ','}${printName(field)}${json}`
      return `{${text}}`
    },
    provenance(fields, source, at) {
      const json = printOrigin(source, at)
      let text = ''
      for (const { field } of fields) text += `${text === '' ? '' : ','}${printName(field)}${json}`
      return `{${text}}`
    },
  }
}
