use super::show::grants;
use super::*;

fn privileges(names: &[&str]) -> Vec<ast::Privilege> {
    names.iter().map(|name| ast::Privilege { name: (*name).to_owned(), columns: Vec::new() }).collect()
}

#[test]
fn what_is_given_is_listed_and_what_is_taken_is_not() {
    let mut account = Account::new(AccountName::new("app", "%"));
    assert_eq!(grants(&account), ["GRANT USAGE ON *.* TO `app`@`%`"]);
    let database = Target::Database("shop".into());
    let all = named(&privileges(&["ALL PRIVILEGES"]), &database).unwrap();
    give(&mut account, &database, &all, true);
    let table = Target::Table("a`b".into(), "t".into());
    let some = named(&privileges(&["INSERT", "SELECT"]), &table).unwrap();
    give(&mut account, &table, &some, false);
    let by_name = named(&privileges(&["BACKUP_ADMIN"]), &Target::Global).unwrap();
    give(&mut account, &Target::Global, &by_name, true);
    assert_eq!(
        grants(&account),
        [
            "GRANT USAGE ON *.* TO `app`@`%`",
            "GRANT BACKUP_ADMIN ON *.* TO `app`@`%` WITH GRANT OPTION",
            "GRANT ALL PRIVILEGES ON `shop`.* TO `app`@`%` WITH GRANT OPTION",
            "GRANT SELECT, INSERT ON `a``b`.`t` TO `app`@`%`",
        ]
    );
    take(&mut account, &table, &some).unwrap();
    let option = named(&privileges(&["GRANT OPTION", "DROP"]), &database).unwrap();
    take(&mut account, &database, &option).unwrap();
    take(&mut account, &Target::Global, &by_name).unwrap();
    let left = grants(&account);
    assert_eq!(left.len(), 2);
    assert!(!left[1].contains("DROP") && left[1].ends_with("TO `app`@`%`"), "{}", left[1]);
    assert_eq!(take(&mut account, &table, &some).unwrap_err().number(), 1147);
}

#[test]
fn privileges_are_granted_where_they_mean_something() {
    let number =
        |names: &[&str], target: &Target| named(&privileges(names), target).err().map(|error| error.number());
    let (database, table) = (Target::Database("d".into()), Target::Table("d".into(), "t".into()));
    assert_eq!(number(&["SHUTDOWN"], &Target::Global), None);
    assert_eq!(number(&["SHUTDOWN"], &database), Some(1221));
    assert_eq!(number(&["LOCK TABLES"], &table), Some(1144));
    assert_eq!(number(&["NONSENSE"], &Target::Global), Some(1149));
    assert_eq!(number(&["USAGE"], &table), None);
}
