/** The words that sites of an industry use about themselves. The industry with the most of them is only a hint. */
const INDUSTRIES: Record<string, string> = {
  software: 'software|saas|platform|api|cloud|app|developers?|automation|integrations?|analytics|open source',
  'e-commerce':
    'shop|cart|checkout|shipping|returns|add to cart|warenkorb|versand|panier|boutique|free delivery',
  manufacturing:
    'manufactur\\w+|machin\\w+|factory|production|maschinenbau|fertigung|industrial|components|steel|cnc|tooling',
  construction:
    'construction|contractors?|builders?|renovation|bauunternehmen|architects?|roofing|plumbing|electrical installation',
  'financial services':
    'bank(?:ing)?|loans?|insurance|invest\\w+|wealth|payments?|fintech|versicherung\\w*|mortgage|asset management',
  healthcare: 'clinic|patients?|medical|health(?:care)?|hospital|dental|therapy|pharma\\w*|praxis|arzt',
  education:
    'school|university|courses?|students?|learning|training|academy|education|curriculum|seminar\\w*',
  hospitality: 'hotel|restaurant|menu|rooms?|reservations?|booking|chef|cuisine|guests?|café|bakery|bäckerei',
  'real estate': 'real estate|propert(?:y|ies)|apartments?|rent(?:als)?|immobilien|leasing|realtor|mieten',
  logistics:
    'logistics|freight|shipping containers?|warehous\\w+|spedition|transport|supply chain|fleet|couriers?',
  'legal services': 'law firm|attorneys?|lawyers?|litigation|rechtsanw\\w+|kanzlei|legal advice|notary',
  marketing: 'marketing|advertising|branding|seo|campaigns?|agency|werbeagentur|creative|public relations',
  consulting: 'consult(?:ing|ants?|ancy)|advisory|beratung|strategy|transformation|management consulting',
  energy: 'energy|solar|wind power|photovoltai\\w+|renewables?|battery|electricity|heat pumps?|strom',
  automotive: 'automotive|vehicles?|cars?|dealership|autohaus|tyres?|car repair|werkstatt|ev charging',
  agriculture: 'farm(?:ing|ers?)?|crops?|agricultur\\w+|harvest|livestock|landwirtschaft|seeds?|irrigation',
  media: 'magazine|newsletter|podcast|publish\\w+|film|broadcast\\w*|journalis\\w+|editorial|verlag',
  'non-profit': 'donat\\w+|charity|non-?profit|volunteers?|foundation|spenden|verein|ngo',
  travel: 'travel|tours?|holidays?|flights?|destinations?|trips?|reisen|urlaub|cruises?',
  recruitment:
    'recruit\\w+|staffing|candidates?|talent acquisition|headhunt\\w*|personalvermittlung|temp agency',
}
const MAX_TEXT = 50_000
const MIN_SCORE = 3

const patterns = Object.entries(INDUSTRIES).map(
  ([name, words]) => [name, new RegExp(`(?<![\\p{L}\\d])(?:${words})(?![\\p{L}\\d])`, 'giu')] as const,
)

/** Guesses the industry from texts. They are given in the order of their weight: words in the title count most. */
export function guessIndustry(texts: readonly (string | null)[]): string | null {
  const scored = patterns.map(([name, pattern]) => {
    const score = texts.reduce((sum, text, place) => {
      const found = new Set(
        [...(text ?? '').slice(0, MAX_TEXT).matchAll(pattern)].map(([word]) => word.toLowerCase()),
      )
      return sum + found.size * (texts.length - place)
    }, 0)
    return { name, score }
  })
  const [best] = scored.sort((a, b) => b.score - a.score)
  return best !== undefined && best.score >= MIN_SCORE ? best.name : null
}
