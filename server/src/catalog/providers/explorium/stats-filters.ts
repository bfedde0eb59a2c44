/** All departments in Explorium's OpenAPI document. */
export const DEPARTMENTS = [
  'administration',
  'real estate',
  'healthcare',
  'partnerships',
  'c-suite',
  'design',
  'human resources',
  'engineering',
  'education',
  'strategy',
  'product',
  'sales',
  'r&d',
  'retail',
  'customer success',
  'security',
  'public service',
  'creative',
  'it',
  'support',
  'marketing',
  'trade',
  'legal',
  'operations',
  'procurement',
  'data',
  'manufacturing',
  'logistics',
  'finance',
]

/** Countries by ISO 3166-1, without those where nobody works. */
export const COUNTRIES = (
  'ad ae af ag al am ao ar at au az ba bb bd be bf bg bh bi bj bn bo br bs bt bw by bz ca cd cf cg ch ci cl cm cn co cr cu ' +
  'cv cy cz de dj dk dm do dz ec ee eg er es et fi fj fm fr ga gb gd ge gh gm gn gq gr gt gw gy hk hn hr ht hu id ie il in ' +
  'iq ir is it jm jo jp ke kg kh ki km kn kr kw kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mr mt ' +
  'mu mv mw mx my mz na ne ng ni nl no np nr nz om pa pe pg ph pk pl pr ps pt pw py qa ro rs ru rw sa sb sc sd se sg si sk ' +
  'sl sm sn so sr ss st sv sy sz td tg th tj tl tm tn to tr tt tv tw tz ua ug us uy uz va vc ve vn vu ws ye za zm zw'
).split(' ')
