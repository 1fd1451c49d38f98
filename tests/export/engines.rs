//! Formats solr, elasticsearch and vespa: files are evaluated with the formulas that the engines document.

use super::models::{self, Case, assert_refused};
use burnrank::export::{FORMATS, Format};
use burnrank::model::{ExportTarget, Unsupported};
use burnrank::{Activation, Architecture, ScaleKind};
use serde_json::Value;
use std::collections::HashMap;

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// Returns a number, or the number in a string, as f32, like `Float.parseFloat` and `floatValue`.
fn single(value: &Value) -> f32 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_f64().unwrap() as f32,
    }
}

fn scores(case: &Case, score: impl Fn(&[f32]) -> f64) -> Vec<f64> {
    case.rows().map(score).collect()
}

/// Whether the engine computes inputs of the model by formulas.
fn has_formulas(case: &Case) -> bool {
    matches!(case.kind(), ScaleKind::Log1p | ScaleKind::Log1pZScore | ScaleKind::Quantile)
        || case.name.starts_with("incomplete")
}

/// All models but kernels, nets with a skip connection and nets that encode features.
fn nets_and_trees() -> Vec<Case> {
    let is_tried = |case: &Case| match case.model.info.ranker.architecture {
        Architecture::Kernel { .. } => false,
        Architecture::Trees { .. } => true,
        _ => case.kind() != ScaleKind::Piecewise && !case.name.starts_with("skip"),
    };
    models::all().into_iter().filter(is_tried).collect()
}

fn solr_tree(node: &Value, places: &HashMap<&str, usize>, row: &[f32]) -> f32 {
    let Some(feature) = node["feature"].as_str() else { return single(&node["value"]) };
    let value = row[places[feature]];
    let left = match node["missing"].as_str() {
        Some(side) if value.is_nan() => side == "left",
        // MultipleAdditiveTreesModel compares with <= and adds 1E-6f to the threshold.
        _ => value <= single(&node["threshold"]) + 1e-6f32,
    };
    solr_tree(&node[if left { "left" } else { "right" }], places, row)
}

/// A value of a function query: f32, except for constants, which are compared in f64; and whether it exists.
struct Number {
    single: f32,
    exact: f64,
    exists: bool,
}

impl Number {
    fn of(single: f32) -> Self {
        Number { single, exact: f64::from(single), exists: true }
    }

    fn truth(holds: bool) -> Self {
        Number::of(f32::from(u8::from(holds)))
    }
}

/// Evaluates function queries with the functions that Solr documents, in f32. Fields without a value are 0.
struct Function<'a> {
    rest: &'a str,
    fields: &'a HashMap<String, f32>,
}

impl Function<'_> {
    fn value(&mut self) -> Number {
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let end = self.rest.find([',', ')']).unwrap_or(self.rest.len());
            let exact: f64 = self.rest[..end].parse().unwrap();
            self.rest = &self.rest[end..];
            return Number { single: exact as f32, exact, exists: true };
        }
        let (name, rest) = self.rest.split_once('(').unwrap();
        self.rest = rest;
        if name == "field" {
            let (field, rest) = rest.strip_prefix('"').unwrap().split_once("\")").unwrap();
            self.rest = rest;
            let value = self.fields[field];
            return Number { exists: !value.is_nan(), ..Number::of(if value.is_nan() { 0.0 } else { value }) };
        }
        let mut arguments = vec![self.value()];
        while let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            arguments.push(self.value());
        }
        self.rest = self.rest.strip_prefix(')').unwrap();
        let singles = arguments.iter().map(|argument| argument.single);
        match (name, &arguments[..]) {
            ("sum", _) => Number::of(singles.sum()),
            ("product", _) => Number::of(singles.product()),
            ("max", _) => Number::of(singles.fold(f32::NEG_INFINITY, f32::max)),
            ("sub", [a, b]) => Number::of(a.single - b.single),
            ("div", [a, b]) => Number::of(a.single / b.single),
            ("abs", [a]) => Number::of(a.single.abs()),
            ("log", [a]) => Number::of(f64::from(a.single).log10() as f32),
            ("lt", [a, b]) => Number::truth(a.exact < b.exact),
            ("eq", [a, b]) => Number::truth(a.exact == b.exact),
            ("and", [a, b]) => Number::truth(a.single != 0.0 && b.single != 0.0),
            ("exists", [a]) => Number::truth(a.exists),
            ("def", [a, b]) => Number::of(if a.exists { a.single } else { b.single }),
            ("if", [test, a, b]) => Number::of(if test.single == 0.0 { b.single } else { a.single }),
            _ => panic!("{name} of {} arguments", arguments.len()),
        }
    }
}

/// The value of a feature of Solr's feature store.
fn solr_feature(feature: &Value, fields: &HashMap<String, f32>) -> f32 {
    let params = &feature["params"];
    match feature["class"].as_str().unwrap().rsplit('.').next().unwrap() {
        "FieldValueFeature" => {
            let value = fields[params["field"].as_str().unwrap()];
            let default = if params["defaultValue"].is_null() { 0.0 } else { single(&params["defaultValue"]) };
            if value.is_nan() { default } else { value }
        }
        "SolrFeature" => {
            let text = params["q"].as_str().unwrap().strip_prefix("{!func}").unwrap();
            let mut function = Function { rest: text, fields };
            let value = function.value().single;
            assert_eq!(function.rest, "");
            // The score of a function query is not negative.
            if value >= 0.0 { value } else { 0.0 }
        }
        other => panic!("unknown feature {other}"),
    }
}

fn solr(model: &Value, store: &Value, names: &[String], row: &[f32]) -> f64 {
    let fields: HashMap<String, f32> = names.iter().cloned().zip(row.iter().copied()).collect();
    let row: Vec<f32> = list(store).iter().map(|feature| solr_feature(feature, &fields)).collect();
    let row = &row[..];
    let features = list(&model["features"]);
    let places: HashMap<&str, usize> =
        features.iter().enumerate().map(|(place, feature)| (feature["name"].as_str().unwrap(), place)).collect();
    let normed = |(feature, &x): (&Value, &f32)| {
        let params = &feature["norm"]["params"];
        match feature["norm"]["class"].as_str().map(|class| class.rsplit('.').next().unwrap()) {
            None => x,
            Some("StandardNormalizer") => (x - single(&params["avg"])) / single(&params["std"]),
            Some("MinMaxNormalizer") => {
                (x - single(&params["min"])) / (single(&params["max"]) - single(&params["min"]))
            }
            Some(other) => panic!("unknown normaliser {other}"),
        }
    };
    let row: Vec<f32> = features.iter().zip(row).map(normed).collect();
    let params = &model["params"];
    match model["class"].as_str().unwrap().rsplit('.').next().unwrap() {
        "LinearModel" => {
            let weight = |feature: &Value| single(&params["weights"][feature["name"].as_str().unwrap()]);
            f64::from(features.iter().zip(&row).map(|(feature, x)| x * weight(feature)).sum::<f32>())
        }
        "NeuralNetworkModel" => {
            let mut values = row;
            for layer in list(&params["layers"]) {
                let unit = |(weights, bias): (&Value, &Value)| {
                    // Java parses a list of numbers with a decimal point as Double, but not one without.
                    assert!(list(weights).iter().all(Value::is_f64));
                    let sum = list(weights).iter().zip(&values).fold(single(bias), |sum, (w, x)| sum + single(w) * x);
                    match layer["activation"].as_str().unwrap() {
                        "identity" => sum,
                        "relu" => sum.max(0.0),
                        "sigmoid" => (1.0 / (1.0 + f64::from(-sum).exp())) as f32,
                        "tanh" => f64::from(sum).tanh() as f32,
                        other => panic!("unknown function {other}"),
                    }
                };
                values = list(&layer["matrix"]).iter().zip(list(&layer["bias"])).map(unit).collect();
            }
            f64::from(values[0])
        }
        "MultipleAdditiveTreesModel" => {
            let tree = |tree: &Value| single(&tree["weight"]) * solr_tree(&tree["root"], &places, &row);
            f64::from(list(&params["trees"]).iter().map(tree).sum::<f32>())
        }
        other => panic!("unknown model {other}"),
    }
}

#[test]
fn solr_scores_by_its_formulas() {
    for case in nets_and_trees() {
        if case.kind().is_per_query() {
            assert_refused(&case, "solr", "one document at a time: train with `scale` quantile");
            continue;
        }
        if case.model.info.ranker.encoding.is_some() {
            assert_refused(&case, "solr", "its nets read one number per feature: train with `scale` quantile");
            continue;
        }
        if case.model.info.ranker.skip {
            assert_refused(&case, "solr", "train with `skip` none");
            continue;
        }
        let exported = case.export("solr").unwrap();
        let (model, (ending, features)) = (parse(&exported.bytes), exported.beside.unwrap());
        let store = parse(&features);
        let fields = case.model.info.names_of_features();
        case.check(&scores(&case, |row| solr(&model, &store, &fields, row)), "solr");
        assert_eq!(ending, ".features.json");
        let names = |features: &[Value]| features.iter().map(|f| f["name"].clone()).collect::<Vec<_>>();
        assert_eq!(names(list(&store)), names(list(&model["features"])));
        assert_eq!(store[0]["store"], model["store"]);
        let is_net = !matches!(case.model.info.ranker.architecture, Architecture::Trees { .. });
        assert_eq!(
            exported.note.contains("functions of it") || exported.note.contains("function queries"),
            is_net && has_formulas(&case)
        );
    }
}

#[test]
fn unsupported_exports_say_what_to_train_instead() {
    for case in models::nets() {
        if case.kind().is_per_query() {
            for format in ["solr", "elasticsearch", "vespa"] {
                assert_refused(&case, format, "one document at a time: train with `scale` quantile, or export to onnx");
            }
        }
        assert_refused(&case, "lightgbm", "train with `model` trees, or export to onnx");
    }
    for case in models::kernels() {
        for format in ["solr", "elasticsearch"] {
            assert_refused(&case, format, "train with `model` mlp or trees, or export to onnx");
        }
    }
}

#[test]
fn every_supported_model_is_exported() {
    let cases = models::all();
    for format in FORMATS {
        for case in &cases {
            let supported = format.capability.check(&case.model.info.ranker.architecture, case.kind());
            let has_skip = case.model.info.ranker.skip && !format.capability.skip;
            let supported = if has_skip { supported.and(Err(Unsupported::Skip)) } else { supported };
            match (case.export(format.name), supported) {
                (Ok(_), Ok(())) => {}
                (Err(error), Err(_)) => {
                    let error = error.to_string();
                    let remedy = format!("training with `for` {format} selects only what {format} supports");
                    let has_target = !["lightgbm", "json", "safetensors"].contains(&format.name);
                    assert_eq!(error.ends_with(&remedy), has_target, "{error}");
                }
                (exported, supported) => panic!("{format}, {}: {exported:?}, {supported:?}", case.name),
            }
        }
    }
    for target in ExportTarget::ALL.into_iter().filter(|target| *target != ExportTarget::Any) {
        let format = Format::of(target.name()).unwrap();
        assert_eq!(format.capability, target.capability(), "{target}");
    }
}

/// Scores with a tree of XGBoost's dump: x < split_condition leads to the first child.
fn xgboost_tree(node: &Value, places: &HashMap<String, usize>, row: &[f32]) -> f32 {
    if node["leaf"].is_number() {
        return single(&node["leaf"]);
    }
    assert_eq!((&node["yes"], &node["no"]), (&node["children"][0]["nodeid"], &node["children"][1]["nodeid"]));
    let value = row[places[node["split"].as_str().unwrap()]];
    let left = if value.is_nan() { node["missing"] == node["yes"] } else { value < single(&node["split_condition"]) };
    xgboost_tree(&node["children"][if left { 0 } else { 1 }], places, row)
}

/// Scores with a net in RankLib's text format: links of each neuron in the order of RankNet.
fn ranknet(text: &str, row: &[f32]) -> f64 {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with("##")).collect();
    let features: Vec<usize> = lines[0].split(' ').map(|word| word.parse().unwrap()).collect();
    let hidden: usize = lines[1].parse().unwrap();
    let mut sizes: Vec<usize> = lines[2..2 + hidden].iter().map(|line| line.parse().unwrap()).collect();
    sizes.push(1);
    let mut links: HashMap<(usize, usize), Vec<f64>> = HashMap::new();
    for line in &lines[2 + hidden..] {
        let words: Vec<&str> = line.split(' ').collect();
        let weights = words[2..].iter().map(|word| word.parse().unwrap()).collect();
        links.insert((words[0].parse().unwrap(), words[1].parse().unwrap()), weights);
    }
    let mut values: Vec<f64> = features.iter().map(|&feature| f64::from(row[feature - 1])).collect();
    let biases = &links[&(0, features.len())];
    let mut before = 0;
    for (layer, &units) in sizes.iter().enumerate() {
        let mut sums = biases[before..before + units].to_vec();
        before += units;
        for (neuron, value) in values.iter().enumerate() {
            sums.iter_mut().zip(&links[&(layer, neuron)]).for_each(|(sum, weight)| *sum += value * weight);
        }
        values = sums.into_iter().map(|sum| 1.0 / (1.0 + (-sum).exp())).collect();
    }
    assert_eq!((before, biases.len()), (biases.len(), before));
    values[0]
}

/// The value of a feature that is a query, by Elasticsearch's documentation: 0 without a match.
fn query(template: &Value, fields: &[String], row: &[f32]) -> f32 {
    let value = |field: &Value| row[fields.iter().position(|name| name == field).unwrap()];
    let function = &template["function_score"];
    if function.is_object() {
        let factor = &function["field_value_factor"];
        let found = value(&factor["field"]);
        assert_eq!(function["boost_mode"], "replace");
        return match factor["missing"].as_f64() {
            _ if !found.is_nan() => found,
            Some(missing) => missing as f32,
            // The query does not match documents without the field.
            None => {
                assert_eq!(function["query"]["exists"]["field"], factor["field"]);
                0.0
            }
        };
    }
    let filter = &template["constant_score"]["filter"];
    let matches = match filter["term"].as_object() {
        Some(term) => {
            let (field, level) = term.iter().next().unwrap();
            value(&Value::from(field.as_str())) == single(level)
        }
        None => value(&filter["bool"]["must_not"]["exists"]["field"]).is_nan(),
    };
    if matches { single(&template["constant_score"]["boost"]) } else { 0.0 }
}

/// The names and values of a feature set: raw features, which are fields, and Lucene expressions of them.
fn feature_set(set: &Value, fields: &[String], row: &[f32]) -> (Vec<String>, Vec<f32>) {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for feature in list(&set["featureset"]["features"]) {
        let template = &feature["template"];
        let value = match feature["template_language"].as_str().unwrap() {
            "mustache" => query(template, fields, row),
            "derived_expression" => {
                let pairs = names.iter().cloned().zip(values.iter().map(|&value| f64::from(value)));
                let names = pairs.collect();
                let mut expression = Expression { text: template.as_str().unwrap(), at: 0, names: &names };
                let value = expression.sum() as f32;
                assert_eq!(expression.peek(), '\0', "all of it is read");
                value
            }
            other => panic!("unknown language {other}"),
        };
        names.push(feature["name"].as_str().unwrap().to_owned());
        values.push(value);
    }
    (names, values)
}

pub fn elasticsearch(body: &Value, names: &[String], row: &[f32]) -> f64 {
    let model = &body["model"]["model"];
    let places: HashMap<String, usize> = names.iter().cloned().enumerate().map(|(place, name)| (name, place)).collect();
    let definition = model["definition"].as_str().unwrap();
    match model["type"].as_str().unwrap() {
        "model/linear" => {
            let weights: Value = serde_json::from_str(definition).unwrap();
            let mut sum = 0.0f32;
            for (name, weight) in weights.as_object().unwrap() {
                let x = row[places[name]];
                let norm = &model["feature_normalizers"][name];
                let x = if norm.is_null() {
                    x
                } else if norm["standard"].is_object() {
                    (x - single(&norm["standard"]["mean"])) / single(&norm["standard"]["standard_deviation"])
                } else {
                    let (low, high) = (single(&norm["min_max"]["minimum"]), single(&norm["min_max"]["maximum"]));
                    (x - low) / (high - low)
                };
                sum += x * single(weight);
            }
            f64::from(sum)
        }
        "model/xgboost+json" => {
            let trees: Value = serde_json::from_str(definition).unwrap();
            f64::from(list(&trees).iter().map(|tree| xgboost_tree(tree, &places, row)).sum::<f32>())
        }
        "model/ranklib" => ranknet(definition, row),
        other => panic!("unknown model {other}"),
    }
}

#[test]
fn elasticsearch_scores_by_its_formulas() {
    for case in nets_and_trees() {
        if case.kind().is_per_query() {
            assert_refused(&case, "elasticsearch", "one document at a time: train with `scale` quantile");
            continue;
        }
        if case.model.info.ranker.encoding.is_some() {
            assert_refused(&case, "elasticsearch", "its nets read one number per feature: train with `scale` quantile");
            continue;
        }
        let hidden = case.model.info.ranker.architecture.hidden().len();
        if case.model.info.ranker.architecture.activation() == Some(Activation::Relu) {
            assert_refused(&case, "elasticsearch", "train with `activation` tanh or sigmoid");
            continue;
        }
        let exported = case.export("elasticsearch").unwrap();
        let body = parse(&exported.bytes);
        let fields = case.model.info.names_of_features();
        let set = exported.beside.map(|(_, set)| parse(&set));
        let is_net = !matches!(case.model.info.ranker.architecture, Architecture::Trees { .. });
        assert_eq!(set.is_some(), is_net && has_formulas(&case), "{}", case.name);
        assert_eq!(exported.note.starts_with("First upload the features"), set.is_some());
        let found = scores(&case, |row| match &set {
            Some(set) => {
                let (names, values) = feature_set(set, &fields, row);
                elasticsearch(&body, &names, &values)
            }
            None => elasticsearch(&body, &fields, row),
        });
        if hidden == 0 {
            case.check(&found, "elasticsearch");
            continue;
        }
        // 1 / (1 + exp(-c s)), inverted; the note contains c.
        let (_, c) = exported.note.split_once("exp(-").unwrap();
        let c: f64 = c.split(' ').next().unwrap().parse().unwrap();
        let turned: Vec<f64> = found.iter().map(|y| (y / (1.0 - y)).ln() / c).collect();
        case.check(&turned, "elasticsearch, turned around");
        assert!(found.iter().all(|y| (0.017..0.983).contains(y)), "no score is near an end, where f32 has few digits");
    }
}

#[test]
fn feature_sets_have_names_that_expressions_can_use() {
    let mut case = models::nets().into_iter().find(|case| case.name == "net-quantile-linear-0").unwrap();
    let names = ["bm25(title)", "bm25 title_", "2", "clicks", "constant", "clicks_quantile"].map(str::to_owned);
    case.model.info.feature_names = names.to_vec();
    let (_, set) = case.export("elasticsearch").unwrap().beside.unwrap();
    let set = parse(&set);
    let found = list(&set["featureset"]["features"]).iter().map(|feature| feature["name"].as_str().unwrap());
    let expected = [
        "bm25_title_",
        "bm25_title__",
        "f_2",
        "clicks",
        "constant",
        "clicks_quantile",
        "bm25_title__quantile",
        "bm25_title___quantile",
        "f_2_quantile",
        "clicks_quantile_",
        "clicks_quantile_quantile",
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// Evaluates ranking expressions and Lucene expressions: sums and products, comparisons, conditions, logarithms, names.
struct Expression<'a> {
    text: &'a str,
    at: usize,
    names: &'a HashMap<String, f64>,
}

impl Expression<'_> {
    fn peek(&mut self) -> char {
        while self.text[self.at..].starts_with(char::is_whitespace) {
            self.at += 1;
        }
        self.text[self.at..].chars().next().unwrap_or('\0')
    }

    fn take(&mut self, expected: char) {
        assert_eq!(self.peek(), expected, "{}", &self.text[self.at..]);
        self.at += 1;
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            match self.peek() {
                '+' => {
                    self.at += 1;
                    value += self.product();
                }
                '-' => {
                    self.at += 1;
                    value -= self.product();
                }
                _ => return value,
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.atom();
        loop {
            match self.peek() {
                '*' => {
                    self.at += 1;
                    value *= self.atom();
                }
                '/' => {
                    self.at += 1;
                    value /= self.atom();
                }
                _ => return value,
            }
        }
    }

    /// `a <= b`, `a > b`, `a < b` or `!(...)`.
    fn truth(&mut self) -> bool {
        if self.peek() == '!' {
            self.at += 1;
            self.take('(');
            let value = self.truth();
            self.take(')');
            return !value;
        }
        let left = self.sum();
        self.peek();
        let rest = &self.text[self.at..];
        let operator = ["<=", "<", ">"].into_iter().find(|operator| rest.starts_with(operator)).unwrap();
        self.at += operator.len();
        let right = self.sum();
        match operator {
            "<=" => left <= right,
            "<" => left < right,
            _ => left > right,
        }
    }

    fn atom(&mut self) -> f64 {
        match self.peek() {
            '(' => {
                self.take('(');
                let mut value = self.sum();
                if self.peek() == '<' {
                    self.take('<');
                    let holds = value < self.sum();
                    self.take('?');
                    let left = self.sum();
                    self.take(':');
                    let right = self.sum();
                    value = if holds { left } else { right };
                }
                self.take(')');
                value
            }
            '-' => {
                self.at += 1;
                -self.atom()
            }
            first if first.is_ascii_digit() => {
                let rest = &self.text[self.at..];
                let mut end = 0;
                while end < rest.len() {
                    let (byte, before) = (rest.as_bytes()[end], rest.as_bytes()[end.saturating_sub(1)]);
                    let sign = byte == b'-' && before == b'e';
                    if !(byte.is_ascii_digit() || byte == b'.' || byte == b'e' || sign) {
                        break;
                    }
                    end += 1;
                }
                self.at += end;
                rest[..end].parse().unwrap()
            }
            _ => self.call(),
        }
    }

    fn call(&mut self) -> f64 {
        let rest = &self.text[self.at..];
        if let Some((name, value)) =
            self.names.iter().filter(|(name, _)| rest.starts_with(&name[..])).max_by_key(|(name, _)| name.len())
        {
            self.at += name.len();
            return *value;
        }
        let end = rest.find([' ', '(']).unwrap();
        let name = &rest[..end];
        self.at += end;
        self.take('(');
        let value = match name {
            "log" | "ln" => self.sum().ln(),
            "if" => {
                let holds = self.truth();
                self.take(',');
                let left = self.sum();
                self.take(',');
                let right = self.sum();
                if holds { left } else { right }
            }
            other => panic!("unknown function {other}"),
        };
        self.take(')');
        value
    }
}

/// Returns the text between the braces of `expression`.
fn vespa_expression(profile: &str) -> &str {
    let (_, rest) = profile.split_once("expression {").unwrap();
    rest.rsplit_once("        }\n    }\n}").unwrap().0
}

fn vespa(profile: &str, names: &[String], row: &[f32]) -> f64 {
    let names: HashMap<String, f64> = names.iter().cloned().zip(row.iter().map(|&x| f64::from(x))).collect();
    let mut expression = Expression { text: vespa_expression(profile), at: 0, names: &names };
    let value = expression.sum();
    assert_eq!(expression.peek(), '\0', "all of it is read");
    value
}

#[test]
fn vespa_scores_by_its_ranking_expressions_or_by_onnx() {
    for mut case in models::all().into_iter().filter(|case| !case.kind().is_per_query()) {
        let width = case.data.n_features();
        case.model.info.feature_names = (0..width).map(|i| format!("bm25(field_{i})")).collect();
        let exported = case.export("vespa").unwrap();
        let profile = String::from_utf8(exported.bytes).unwrap();
        let linear = matches!(case.model.info.ranker.architecture, Architecture::Linear | Architecture::Trees { .. });
        match exported.beside {
            None => {
                assert!(linear && !case.name.contains("incomplete"), "{}", case.name);
                let names = &case.model.info.feature_names;
                case.check(&scores(&case, |row| vespa(&profile, names, row)), "vespa");
            }
            Some((ending, graph)) => {
                assert_eq!((ending, &graph), (".onnx", &case.export("onnx").unwrap().bytes), "{}", case.name);
                assert!(profile.contains(&format!("files/{}.onnx", case.name)) && profile.contains("bm25(field_0), "));
            }
        }
    }
}
