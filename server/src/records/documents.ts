import type { CheckedRecord } from './record.ts'

type Fields = CheckedRecord['fields']

/** The time of a statement, as entities show it. `isExact` is false if milliseconds are too coarse to compare it. */
export type Moment = { text: string; isExact: boolean }

const FINER = /\.\d{4}/

/** Prints what entities show. A batch has few sources, times and names, so the last text of each is reused. */
export type Printer = {
  moment(at: string): Moment
  /** Prints the values of these fields as a JSON object. */
  fields(fields: Fields): string
  /** Prints the origins of these fields as a JSON object. */
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
