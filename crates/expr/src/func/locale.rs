//! How numbers are written: the locales of FORMAT(number, digits, locale).
//!
//! A locale has a decimal point, a separator between groups of digits, and groups of three digits or, in
//! India, three and then two. The names are MySQL's.

/// How numbers are written somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locale {
    point: char,
    separator: Option<char>,
    /// Digits of the groups after the first, which has three.
    group: usize,
}

/// en_US, which stands for locales that are not known.
pub const DEFAULT: Locale = Locale { point: '.', separator: Some(','), group: 3 };

const fn locale(point: char, separator: char, group: usize) -> Locale {
    Locale { point, separator: Some(separator), group }
}

const fn ungrouped(point: char) -> Locale {
    Locale { point, separator: None, group: 3 }
}

const LOCALES: &[(Locale, &str)] = &[
    (
        DEFAULT,
        "ar_AE ar_BH ar_DZ ar_EG ar_IN ar_IQ ar_JO ar_KW ar_LB ar_LY ar_MA ar_OM ar_QA ar_SD ar_SY ar_TN ar_YE en_AU \
         en_CA en_GB en_NZ en_PH en_US en_ZA en_ZW es_DO es_GT es_HN es_MX es_NI es_PA es_PE es_PR es_SV es_US gu_IN \
         he_IL hi_IN ja_JP ko_KR ms_MY th_TH ur_PK zh_CN zh_HK zh_TW",
    ),
    (ungrouped('.'), "ar_SA sr_RS"),
    (
        locale(',', '.', 3),
        "be_BY da_DK de_BE de_DE de_LU es_AR es_BO es_CL es_CO es_EC es_ES es_PY es_UY es_VE fo_FO hu_HU id_ID is_IS \
         lt_LT mn_MN nb_NO no_NO ro_RO ru_UA sq_AL tr_TR uk_UA vi_VN",
    ),
    (
        ungrouped(','),
        "ca_ES de_AT el_GR eu_ES fr_BE fr_CA fr_CH fr_FR fr_LU gl_ES hr_HR it_IT nl_BE nl_NL pl_PL pt_BR pt_PT sl_SI",
    ),
    (locale(',', ' ', 3), "bg_BG cs_CZ es_CR et_EE fi_FI lv_LV mk_MK ru_RU sk_SK sv_FI sv_SE"),
    (locale('.', '\'', 3), "de_CH"),
    (locale(',', '\'', 3), "it_CH rm_CH"),
    (locale('.', ',', 2), "en_IN ta_IN te_IN"),
];

impl Locale {
    /// The locale of that name, whatever its case.
    pub fn by_name(name: &str) -> Option<Locale> {
        let known =
            |(_, names): &&(Locale, &str)| names.split(' ').any(|known| known.eq_ignore_ascii_case(name));
        LOCALES.iter().find(known).map(|(locale, _)| *locale)
    }

    /// A number's text with this locale's point and groups.
    pub fn write(self, number: &str) -> String {
        let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
        let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
        let mut out = String::from(sign);
        for (position, digit) in whole.chars().enumerate() {
            let left = whole.len() - position;
            let begins_group = left == 3 || left > 3 && (left - 3) % self.group == 0;
            if let Some(separator) = self.separator.filter(|_| position > 0 && begins_group) {
                out.push(separator);
            }
            out.push(digit);
        }
        if let Some(fraction) = fraction {
            out.push(self.point);
            out.push_str(fraction);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_the_locale() {
        let written = |name: &str, number: &str| Locale::by_name(name).map(|locale| locale.write(number));
        assert_eq!(written("en_US", "-1234567.50").as_deref(), Some("-1,234,567.50"));
        assert_eq!(written("DE_de", "1234567.50").as_deref(), Some("1.234.567,50"));
        assert_eq!(written("fr_FR", "1234567.50").as_deref(), Some("1234567,50"));
        assert_eq!(written("de_CH", "123456").as_deref(), Some("123'456"));
        assert_eq!(written("ta_IN", "1234567890.5").as_deref(), Some("1,23,45,67,890.5"));
        assert_eq!(written("en_IN", "999").as_deref(), Some("999"));
        assert_eq!(written("xx_XX", "1"), None);
    }
}
