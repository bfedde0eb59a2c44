import type { Reference } from '../../references.ts'

/** A function that a formula can use. `insert` is the text that is typed for it. */
export type FormulaWord = Reference & { insert: string }

const METHODS: readonly [string, string, string][] = [
  ['trim()', 'text', 'Without blanks around it'],
  ['toLowerCase()', 'text', 'In lower case'],
  ['toUpperCase()', 'text', 'In upper case'],
  ['includes()', 'text or list', 'True if it holds the value'],
  ['startsWith()', 'text', 'True if it begins with the value'],
  ['endsWith()', 'text', 'True if it ends with the value'],
  ['replace()', 'text', 'With the first match replaced'],
  ['replaceAll()', 'text', 'With every match replaced'],
  ['split()', 'text', 'A list of its parts'],
  ['slice()', 'text or list', 'A part, from one position to another'],
  ['match()', 'text', 'What a pattern finds'],
  ['padStart()', 'text', 'Filled up to a length'],
  ['length', 'text or list', 'How long it is'],
  ['join()', 'list', 'Its items as one text'],
  ['map()', 'list', 'A list of results for its items'],
  ['filter()', 'list', 'The items that fit'],
  ['find()', 'list', 'The first item that fits'],
  ['at()', 'list', 'The item at a position'],
  ['toFixed()', 'number', 'With this many decimals'],
]
const FUNCTIONS: readonly [string, string][] = [
  ['Number()', 'A text as a number'],
  ['String()', 'A value as text'],
  ['Boolean()', 'A value as true or false'],
  ['parseInt()', 'A text as a whole number'],
  ['parseFloat()', 'A text as a number'],
  ['isNaN()', 'True if it is not a number'],
  ['Math.round()', 'The nearest whole number'],
  ['Math.floor()', 'The whole number below'],
  ['Math.ceil()', 'The whole number above'],
  ['Math.max()', 'The largest of several'],
  ['Math.min()', 'The smallest of several'],
  ['JSON.parse()', 'JSON as a value'],
  ['JSON.stringify()', 'A value as JSON'],
  ['Object.keys()', 'The keys of an object'],
  ['Object.values()', 'The values of an object'],
  ['Object.entries()', 'The keys and values of an object'],
  ['Array.isArray()', 'True if it is a list'],
  ['new Date()', 'A date'],
  ['encodeURIComponent()', 'A text for an address'],
]

const makeWord = (insert: string, type: string, sample: string): FormulaWord => ({
  token: '',
  label: insert,
  type,
  sample,
  insert,
})

/** Returns the functions whose name begins with the typed word, or the methods after a dot. */
export function findWords(typed: string): FormulaWord[] {
  const wanted = typed.toLowerCase()
  if (typed.startsWith('.')) {
    return METHODS.filter(([name]) => name.toLowerCase().startsWith(wanted.slice(1))).map(
      ([name, type, help]) => makeWord(`.${name}`, type, help),
    )
  }
  return FUNCTIONS.filter(
    ([name]) =>
      name
        .toLowerCase()
        .split(/[. ]/)
        .some((part) => part.startsWith(wanted)) || name.toLowerCase().startsWith(wanted),
  ).map(([name, help]) => makeWord(name, 'function', help))
}
